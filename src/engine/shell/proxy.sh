# Makes the site's proxy known to what follows, and what is reached without it; takes its parameters away.
# Parameters: proxy direct
http_proxy=$1 https_proxy=$1 no_proxy=$2
export http_proxy https_proxy no_proxy
shift 2
