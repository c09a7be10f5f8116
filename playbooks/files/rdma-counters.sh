#!/bin/sh
# Writes the counters, state and rate of every RDMA port as text for Prometheus.
#
#   rdma-counters [FILE [DIRECTORY]]
#
# Without a FILE, or with -, it prints them. FILE is replaced in one step, so that nobody reads half of it.
# DIRECTORY is read in place of /sys/class/infiniband. What cannot be read and what is no number is left out.
#
# One metric for all counters of a kind, with the counter's name as a label: drivers have names of their own,
# such as RxECNMrkd, which are no good names of metrics, and one alert rule can name the counters of all drivers.
set -u
LC_ALL=C
export LC_ALL

file=${1:--}
directory=${2:-/sys/class/infiniband}
newline='
'

# Sets `line` to the first line of a file, to nothing if it cannot be read.
first_line() {
    line=
    { read -r line <"$1"; } 2>/dev/null || :
}

# Sets `escaped` to a text as it stands in a label.
escape() {
    escaped=
    text=$1
    while [ -n "$text" ]; do
        rest=${text#?}
        letter=${text%"$rest"}
        case $letter in
        \\ | \") escaped="$escaped\\$letter" ;;
        "$newline") escaped="$escaped\\n" ;;
        *) escaped=$escaped$letter ;;
        esac
        text=$rest
    done
}

# Prints a sample if its value is a number: name, labels, value.
sample() {
    case $3 in
    '' | *[!0-9]*) ;;
    *) printf '%s{%s} %s\n' "$1" "$2" "$3" ;;
    esac
}

# Sets `labels` to those of a port, by its directory.
label() {
    escape "${1##*/}"
    port=$escaped
    device=${1%/ports/*}
    escape "${device##*/}"
    device=$escaped
    first_line "$1/link_layer"
    escape "$line"
    labels="device=\"$device\",port=\"$port\",link_layer=\"$escaped\""
}

# Prints all counters in a directory of each port: name of the metric, directory, what they are.
counters() {
    printf '# HELP %s %s\n# TYPE %s counter\n' "$1" "$3" "$1"
    for port_directory in "$directory"/*/ports/*; do
        [ -d "$port_directory/$2" ] || continue
        label "$port_directory"
        for counter in "$port_directory/$2"/*; do
            # It says how long the driver keeps values, and counts nothing.
            [ "${counter##*/}" != lifespan ] || continue
            first_line "$counter"
            value=$line
            escape "${counter##*/}"
            sample "$1" "$labels,counter=\"$escaped\"" "$value"
        done
    done
}

# Prints a number that stands before a colon, as in `4: ACTIVE`: name of the metric, file, what it is.
number() {
    printf '# HELP %s %s\n# TYPE %s gauge\n' "$1" "$3" "$1"
    for port_directory in "$directory"/*/ports/*; do
        [ -d "$port_directory" ] || continue
        label "$port_directory"
        first_line "$port_directory/$2"
        sample "$1" "$labels" "${line%%:*}"
    done
}

# Prints the rate, which is written as `200 Gb/sec (4X HDR)` or `2.5 Gb/sec (1X SDR)`.
rate() {
    printf '# HELP %s %s\n# TYPE %s gauge\n' "$1" "$2" "$1"
    for port_directory in "$directory"/*/ports/*; do
        [ -d "$port_directory" ] || continue
        label "$port_directory"
        first_line "$port_directory/rate"
        value=${line%% Gb/sec*}
        [ "$value" != "$line" ] || continue
        case $value in
        *[!0-9.]* | *.*.* | .* | *. | *.??* | 0?*) continue ;;
        *.*) value=${value%.*}${value#*.} ;;
        *) value=${value}0 ;;
        esac
        # Tenths of 10^9 bits.
        sample "$1" "$labels" "$((${value#0} * 12500000))"
    done
}

all() {
    number rdma_port_state state 'State of the port: 1 down, 2 init, 3 armed, 4 active.'
    number rdma_port_physical_state phys_state 'Physical state of the port: 2 polling, 3 disabled, 5 link up.'
    rate rdma_port_rate_bytes_per_second 'Rate of the port.'
    counters rdma_port_statistic_total counters 'Counters of the port; port_xmit_data and port_rcv_data count four bytes each.'
    counters rdma_hw_statistic_total hw_counters 'Counters of the driver for the port.'
}

if [ "$file" = - ]; then
    all
else
    # node_exporter reads only names that end in .prom.
    umask 022
    all >"$file.new" && mv -f "$file.new" "$file"
fi
