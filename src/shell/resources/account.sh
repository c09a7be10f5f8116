# Changes users and groups. The program is one of the shadow suite.
# Parameters: program word...
case $1 in
useradd | usermod | userdel | groupadd | groupmod | groupdel | gpasswd) exec "$@" ;;
*) exit 2 ;;
esac
