#!/bin/sh
# Makes the source of `hello`, a module for DKMS, and says what it makes. Runs as root on a machine of the lab.
set -eu
source=/usr/src/hello-1.0
mkdir -p "$source"
cat >"$source/dkms.conf" <<'END'
PACKAGE_NAME=hello
PACKAGE_VERSION=1.0
BUILT_MODULE_NAME[0]=hello
DEST_MODULE_LOCATION[0]=/updates/dkms
AUTOINSTALL=yes
END
echo 'obj-m := hello.o' >"$source/Makefile"
cat >"$source/hello.c" <<'END'
#include <linux/module.h>
static int __init hello_start(void) { return 0; }
static void __exit hello_end(void) { }
module_init(hello_start);
module_exit(hello_end);
MODULE_LICENSE("GPL");
END
dkms add hello/1.0
