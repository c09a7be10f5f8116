#!/bin/sh
# Makes what the mirror of a lab serves. Runs as root in a container, which becomes the mirror's image.
# Standard input: the list of stand-ins. Leaves in /srv: `sums` with a line `sha256 PLACE DIGEST` for each archive
# and `commit PLACE COMMIT` for each repository of git,
# and `key.asc`, the key that the repositories are signed with.
set -eu
root=/srv/mirror
work=/srv/work
export GNUPGHOME=/srv/key LC_ALL=C
mkdir -p "$root" "$work"
cat >/srv/list
: >/srv/sums
mkdir -m 700 "$GNUPGHOME"
gpg -q --batch --passphrase '' --quick-generate-key 'mirror of a provision lab' rsa3072 sign never
gpg -q --batch --armor --export >/srv/key.asc

# place FILE: where it is kept, with its directory made.
place() {
    mkdir -p "$root/${1%/*}"
    printf '%s/%s\n' "$root" "$1"
}
sum() {
    digest_of=$(sha256sum <"$root/$1")
    printf 'sha256 %s %s\n' "$1" "${digest_of%% *}" >>/srv/sums
}
# pack PLACE DIRECTORY: an archive that is the same every time.
pack() {
    file=$(place "$1")
    tar -C "$work" --sort=name --owner=0 --group=0 --mtime=@0 -czf "$file" "$2"
    rm -rf "${work:?}/$2"
    sum "$1"
}
said='A stand-in from the mirror of a provision lab: it has the name and the place of the real thing, and nothing of it.'
# deb REPOSITORY PACKAGE VERSION NEEDS: a package, with the files that its directory has already.
deb() {
    tree=$work/$2
    mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/$2"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: all\n' "$2" "$3"
        printf 'Maintainer: provision lab <lab@localhost>\nSection: misc\nPriority: optional\n'
        [ -z "$4" ] || printf 'Depends: %s\n' "$4"
        printf 'Description: stand-in for %s\n %s\n' "$2" "$said"
    } >"$tree/DEBIAN/control"
    printf '%s\n' "$said" >"$tree/usr/share/doc/$2/STAND-IN"
    mkdir -p "$work/repo-$1"
    # The colon of an epoch is not in the names of files.
    dpkg-deb --root-owner-group -Znone -b "$tree" "$work/repo-$1/${2}_${3#*:}_all.deb" >/dev/null
    rm -rf "$tree"
}
# source_of DIRECTORY FILE ...: a source whose make and make install give these files. They say what they
# are and fail: nobody shall take them for the real ones.
source_of() {
    mkdir -p "$1"
    printf '%s\n' "$said" >"$1/STAND-IN"
    into=$1
    shift
    [ $# -gt 0 ] || return 0
    # shellcheck disable=SC2016 # make fills them in
    {
        printf 'PREFIX = /usr/local\nFILES = %s\nall src.build: $(FILES)\n$(FILES):\n' "$*"
        printf '\ttest -z "$(CUDA_HOME)" || test -x "$(CUDA_HOME)/bin/nvcc"\n\tmkdir -p $(@D)\n'
        printf '\tprintf "#!/bin/sh\\necho a stand-in >&2\\nexit 1\\n" >$@\n\tchmod 755 $@\n'
        printf 'install: all\n\tfor file in $(FILES); do install -D $$file $(PREFIX)/$$file || exit 1; done\n'
    } >"$into/Makefile"
}
# nvcc DIRECTORY VERSION RELEASE: the compiler of a CUDA toolkit, below the directory.
nvcc() {
    bin=$1/usr/local/cuda-$3/bin
    mkdir -p "$bin"
    ln -s "cuda-$3" "$1/usr/local/cuda"
    cat >"$bin/nvcc" <<END
#!/bin/sh
# $said
case \$* in
--version | -V) echo 'nvcc: a stand-in. Cuda compilation tools, release $3, V${2%-*}' ;;
*) echo 'nvcc: a stand-in, it compiles nothing' >&2 && exit 1 ;;
esac
END
    chmod 755 "$bin/nvcc"
}
while read -r kind first second third fourth; do
    case $kind in
    deb) deb "$first" "$second" "$third" "$fourth" ;;
    nvcc)
        nvcc "$work/$second" "$third" "$fourth"
        deb "$first" "$second" "$third" ''
        ;;
    rpm | nvcc-rpm)
        mkdir -p "$work/rpm-$first"
        if [ "$kind" = nvcc-rpm ]; then
            nvcc "$work/rpm-$first/files/$second" "$third" "$fourth"
            fourth=''
        fi
        printf '%s %s %s\n' "$second" "$third" "$fourth" >>"$work/rpm-$first/list"
        ;;
    stream)
        # A stream of a module, with all versions of its packages that the repository has: modulemd 2.
        printf '%s %s\n' "$second" "$third" >>"$work/rpm-$first/streams"
        ;;
    git)
        bare=$(place "$first")
        git init -q --bare "$bare"
        # shellcheck disable=SC2086 # a list of files
        source_of "$work/tree" $third $fourth
        git init -q "$work/tree"
        git -C "$work/tree" add .
        git -C "$work/tree" -c user.name=lab -c user.email=lab@localhost commit -q -m 'stand-in'
        for tag in $(printf '%s' "$second" | tr , ' '); do
            git -C "$work/tree" tag "$tag"
        done
        printf 'commit %s %s\n' "$first" "$(git -C "$work/tree" rev-parse HEAD)" >>/srv/sums
        git -C "$work/tree" push -q --tags "$bare" HEAD:refs/heads/master
        git -C "$bare" update-server-info
        rm -rf "$work/tree"
        ;;
    tar)
        # shellcheck disable=SC2086 # a list of files
        source_of "$work/$second" $third $fourth
        pack "$first" "$second"
        ;;
    installer)
        mkdir -p "$work/$second"
        # shellcheck disable=SC2016 # the script fills them in
        printf '#!/bin/sh\n# %s\necho "$0 $*"\n' "$said" >"$work/$second/install.sh"
        chmod 755 "$work/$second/install.sh"
        pack "$first" "$second"
        ;;
    build)
        mkdir -p "$work/$second"
        cat >"$work/$second/configure" <<'END'
#!/bin/sh
# A stand-in: takes --prefix and writes a Makefile.
prefix=/usr/local
for word; do
    case $word in --prefix=*) prefix=${word#--prefix=} ;; esac
done
sed "s|@prefix@|$prefix|" "$(dirname "$0")/Makefile.in" >Makefile
END
        chmod 755 "$work/$second/configure"
        # shellcheck disable=SC2016 # make fills them in
        printf 'prefix = @prefix@\nall:\n\tprintf "#!/bin/sh\\necho stand-in\\n" >%s\ninstall: all\n\tinstall -D -m 755 %s $(DESTDIR)$(prefix)/bin/%s\n' \
            "$third" "$third" "$third" >"$work/$second/Makefile.in"
        pack "$first" "$second"
        ;;
    script)
        file=$(place "$first")
        # shellcheck disable=SC2016 # it says its own arguments
        printf '#!/bin/sh\n# %s\necho "stand-in: $0 $*"\n' "$said" >"$file"
        sum "$first"
        ;;
    esac
done </srv/list
while read -r kind name label places; do
    [ "$kind" = repo ] || continue
    (
        cd "$work/repo-$name"
        apt-ftparchive packages . >Packages
        gzip -kn9 Packages
        label=$(printf '%s' "$label" | tr _ ' ')
        apt-ftparchive -o "APT::FTPArchive::Release::Label=$label" -o "APT::FTPArchive::Release::Origin=$label" \
            -o APT::FTPArchive::Release::Description=stand-in release . >/srv/Release
        mv /srv/Release Release
        gpg -q --batch --clearsign -o InRelease Release
    )
    for one in $places; do
        mkdir -p "$root/$one"
        cp -l "$work/repo-$name"/* "$root/$one/"
    done
done </srv/list
while read -r kind name places; do
    [ "$kind" = yum ] || continue
    rpms "$work/rpm-$name" <"$work/rpm-$name/list"
    made=$work/rpm-$name/RPMS/noarch
    rpmsign --define '_gpg_name mirror of a provision lab' --define '__gpg /usr/bin/gpg' --addsign "$made"/*.rpm >/dev/null
    createrepo_c -q "$made"
    if [ -f "$work/rpm-$name/streams" ]; then
        while read -r stream packages; do
            printf -- '---\ndocument: modulemd\nversion: 2\ndata:\n  name: %s\n  stream: "%s"\n  version: 1\n' "${stream%%:*}" "${stream#*:}"
            printf '  context: %s\n  arch: noarch\n  summary: stand-in\n  description: stand-in\n' lab
            printf '  license: { module: [none] }\n  artifacts:\n    rpms:\n'
            printf '%s' "$packages" | tr , '\n' | while IFS=/ read -r package version || [ -n "$package" ]; do
                rpm -qp --qf '    - %{NAME}-%|EPOCH?{%{EPOCH}}:{0}|:%{VERSION}-%{RELEASE}.%{ARCH}\n' "$made/$package-$version"-*.rpm
            done
            printf '...\n'
        done <"$work/rpm-$name/streams" >"$work/modules.yaml"
        modifyrepo_c --mdtype=modules "$work/modules.yaml" "$made/repodata" >/dev/null
    fi
    for one in $places; do
        mkdir -p "$root/$one"
        cp -al "$made/." "$root/$one/"
    done
done </srv/list
# Debian's own packages, where the image was given some.
if [ -d /srv/debian ]; then
    (cd /srv/debian && apt-ftparchive packages . >Packages)
    ln -s /srv/debian "$root/debian"
fi
# Nothing more is signed with it.
gpgconf --kill gpg-agent
rm -rf "$work" "$GNUPGHOME" /srv/list
cat >/etc/systemd/system/lab-mirror.service <<'END'
[Service]
ExecStart=/bin/busybox httpd -f -p 80 -h /srv/mirror
Restart=always
[Install]
WantedBy=multi-user.target
END
systemctl -q enable lab-mirror.service
