# Changes users and groups. Parameters: a program of the shadow suite and its arguments.
case $1 in
useradd | usermod | userdel | groupadd | groupmod | groupdel | gpasswd) exec "$@" ;;
*) exit 2 ;;
esac
