# Tells what the repositories have for names that no package of theirs is called: `provides NAME PROVIDER`.
# The first word is the tool with its options.
dnf_providers() {
    repoquery="$1 -q repoquery"
    shift
    # shellcheck disable=SC2086 # options without white space
    called=$($repoquery --qf '%{name}\n' "$@" 2>/dev/null) || return 0
    for name; do
        case "
$called
" in
        *"
$name
"*) continue ;;
        esac
        # shellcheck disable=SC2086
        $repoquery --qf "provides $name %{name}\\n" --whatprovides "$name" 2>/dev/null | sort -u
    done
}
