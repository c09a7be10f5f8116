# Shared first lines of all scripts of provision: one locale, and the tools of root. Below /usr/local only root_path.sh
# knows whether root may look.
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin
export LC_ALL PATH
unset CDPATH
