#!/bin/sh
# Stand-ins as RPM packages, for the image of a host of the RHEL family and for the mirror of a lab.

# rpms DIRECTORY: builds packages of the lines on standard input: NAME EPOCH:VERSION-RELEASE NEEDS. The epoch may be
# left out. NEEDS are separated by commas: NAME or NAME=VERSION, !NAME for what cannot be there besides, +NAME=VERSION
# for what else it counts as. A package holds what lies in DIRECTORY/files/NAME. One run of
# rpmbuild makes all, a further one what is there in a further version.
rpms() {
    mkdir -p "$1/files" "$1/specs"
    awk -v directory="$1" '
        NF < 2 { next }
        {
            spec = directory "/specs/" (++seen[$1]) ".spec"
            if (!(spec in begun)) {
                begun[spec] = 1
                print "Name: none\nVersion: 0\nRelease: 0\nSummary: none\nLicense: none\nBuildArch: noarch" >spec
                print "%description\nnone\n%install\nmkdir -p %{buildroot}" >spec
                print "for tree in " directory "/files/*/; do [ ! -d \"$tree\" ] || cp -a \"$tree.\" %{buildroot}/; done" >spec
            }
            epoch = ""
            version = $2
            if (split($2, parts, ":") == 2) { epoch = parts[1]; version = parts[2] }
            split(version, parts, "-")
            print "%package -n " $1 "\nVersion: " parts[1] "\nRelease: " parts[2] "\nSummary: stand-in for " $1 "\nAutoReqProv: no" >spec
            if (epoch != "") print "Epoch: " epoch >spec
            count = split($3, needs, ",")
            for (i = 1; i <= count; i++) {
                kind = sub(/^!/, "", needs[i]) ? "Conflicts: " : sub(/^[+]/, "", needs[i]) ? "Provides: " : "Requires: "
                sub(/=/, " = ", needs[i])
                print kind needs[i] >spec
            }
            print "%description -n " $1 "\nA stand-in of a provision lab, with nothing of the real thing.\n%files -n " $1 >spec
            find = "cd " directory "/files/" $1 " 2>/dev/null && find . ! -type d -printf /%P\\\\n"
            while ((find | getline file) > 0) print file >spec
            close(find)
        }'
    for spec in "$1"/specs/*.spec; do
        rpmbuild -bb --quiet --define "_topdir $1" --define '_build_id_links none' --define '__os_install_post %{nil}' \
            --define '_unpackaged_files_terminate_build 0' --define '_binaries_in_noarch_packages_terminate_build 0' \
            "$spec" >"$1/log" 2>&1 || {
            tail -n 20 "$1/log" >&2
            return 1
        }
    done
}
