# Shared first lines of all scripts of provision: one locale, and the tools of root. Below /usr/local only root_path.sh
# knows whether root may look, and what it left out stays out.
LC_ALL=C
case $PATH in */dev/null) ;; *) PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin ;; esac
export LC_ALL PATH
unset CDPATH
