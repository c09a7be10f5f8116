# Waits for the end of a spool entry that an earlier connection started. key
provision_dir
provision_find "$1"
provision_follow "$s"
