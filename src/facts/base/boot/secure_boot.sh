# Prints whether Secure Boot is on, where there is such a thing, and which key of DKMS the firmware knows.
tell_secure_boot() {
    for variable in /sys/firmware/efi/efivars/SecureBoot-*; do
        [ -r "$variable" ] || continue
        # Four bytes of attributes, then the value.
        case $(od -An -t u1 -j 4 -N 1 "$variable" 2>/dev/null) in
        *1*) secure=true ;;
        *) secure=false ;;
        esac
        printf 'secure_boot=%s\n' "$secure"
        [ "$secure" = true ] || continue
        for key in /var/lib/shim-signed/mok/MOK.der /var/lib/dkms/mok.pub; do
            [ -r "$key" ] || continue
            case $(mokutil --test-key "$key" 2>&1) in
            *'already enrolled'*) printf 'enrolled=%s\n' "$key" ;;
            esac
        done
    done
}
