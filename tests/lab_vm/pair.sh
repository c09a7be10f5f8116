#!/bin/sh
# Makes two modules of which the second takes a symbol from the first, signs them with the key of DKMS, and then puts
# another build of the first in its place, whose symbol is of another type. Runs as root on a machine of the lab.
set -eu
kernel=$(uname -r)
tree=/lib/modules/$kernel
work=/root/pair
mkdir -p "$work" "$tree/updates"
cd "$work"
printf 'obj-m := pair_one.o pair_two.o\n' >Makefile
cat >pair_one.c <<'END'
#include <linux/module.h>
VALUE pair_value(VALUE value);
VALUE pair_value(VALUE value) { return value; }
EXPORT_SYMBOL_GPL(pair_value);
MODULE_LICENSE("GPL");
END
cat >pair_two.c <<'END'
#include <linux/module.h>
VALUE pair_value(VALUE value);
static int __init pair_start(void) { return pair_value(0) != 0; }
static void __exit pair_end(void) { }
module_init(pair_start);
module_exit(pair_end);
MODULE_LICENSE("GPL");
END
build() { # TYPE MODULE...
    type=$1
    shift
    make -s -C "$tree/build" M="$work" KCFLAGS="-DVALUE=$type" modules
    for module in "$@"; do
        "$(ls /usr/lib/linux-kbuild-*/scripts/sign-file)" sha256 /var/lib/dkms/mok.key /var/lib/dkms/mok.pub "$module.ko"
        cp "$module.ko" "$tree/updates/"
    done
}
build int pair_one pair_two
make -s -C "$tree/build" M="$work" clean
build long pair_one
depmod
echo pair_two >/etc/modules-load.d/pair.conf
