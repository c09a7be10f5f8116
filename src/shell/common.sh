# Shared first lines of all scripts of provision: one locale, and the tools of root.
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin
export LC_ALL PATH
unset CDPATH
