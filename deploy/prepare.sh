#!/bin/sh
# Creates the contents of /etc/binnacle for every host: certificates, keys and addresses.
#
#   prepare.sh FOLDER API-HOST HOST=ADDRESS...
#
# API-HOST is the name of the load balancer. HOST is the name or address of a host as the other hosts see it. ADDRESS is its
# address in the endpoints of the Service kubernetes.
#
# Files of a host are written to FOLDER/HOST, those of the administrator and of Prometheus to FOLDER. The CAs and the service
# account key are created once. Every run issues new certificates, so run the script again to renew them. FOLDER contains
# the private keys of the CAs: do not store it on a host of the cluster.
set -eu
umask 077
[ $# -ge 3 ] || { echo "usage: prepare.sh FOLDER API-HOST HOST=ADDRESS..." >&2; exit 2; }
folder=$1 api=$2
shift 2
days=${DAYS:-365}
mkdir -p "$folder"
cd "$folder"
key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

# san HOST...: prints the subjectAltName extension
san() {
  list=
  for host; do
    case $host in
      *:* | [0-9]*.[0-9]*.[0-9]*.[0-9]*) list=$list,IP:$host ;;
      *) list=$list,DNS:$host ;;
    esac
  done
  echo "subjectAltName=${list#,}"
}

# authority NAME: creates a CA unless it exists
authority() {
  [ -e "$1.crt" ] || openssl req -x509 $key -days 3650 -subj "/CN=$1" -keyout "$1.key" -out "$1.crt" \
    -addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null
}

# certificate CA FILE SUBJECT USAGE [EXTENSION]: issues a certificate; each file is replaced atomically
certificate() {
  openssl req -x509 -CA "$1.crt" -CAkey "$1.key" $key -days "$days" -subj "$3" -keyout "$2.key.new" -out "$2.crt.new" \
    -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,digitalSignature \
    -addext "extendedKeyUsage=$4" ${5:+-addext "$5"} 2>/dev/null
  mv "$2.key.new" "$2.key"
  mv "$2.crt.new" "$2.crt"
}

for name in ca etcd-ca front-proxy-ca; do authority $name; done
[ -e sa.key ] || openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out sa.key 2>/dev/null
openssl pkey -in sa.key -pubout -out sa.pub

members= servers=
for pair; do
  members=$members,${pair%%=*}=https://${pair%%=*}:2380
  servers=$servers,https://${pair%%=*}:2379
done

for pair; do
  host=${pair%%=*}
  mkdir -p "$host"
  # etcd uses one certificate for clients, for peers and as a client of its own gateway.
  certificate etcd-ca "$host/etcd" "/CN=$host" serverAuth,clientAuth "$(san "$host" localhost 127.0.0.1)"
  certificate etcd-ca "$host/etcd-client" "/CN=binnacle" clientAuth
  certificate ca "$host/apiserver" "/CN=kube-apiserver" serverAuth \
    "$(san "$host" "${pair#*=}" "$api" kubernetes kubernetes.default kubernetes.default.svc 10.96.0.1 localhost 127.0.0.1)"
  certificate front-proxy-ca "$host/front-proxy-client" "/CN=front-proxy-client" clientAuth
  cp ca.crt etcd-ca.crt front-proxy-ca.crt sa.key sa.pub "$host/"
  cat >"$host/host.env" <<END
HOST=$host
ADDRESS=${pair#*=}
MEMBERS=${members#,}
ETCD=${servers#,}
END
done

certificate ca admin "/O=system:masters/CN=kubernetes-admin" clientAuth
certificate ca prometheus "/O=system:monitoring/CN=prometheus" clientAuth
certificate etcd-ca etcd-admin "/CN=etcd-admin" clientAuth
cat >admin.kubeconfig <<END
apiVersion: v1
kind: Config
clusters:
- name: production
  cluster: {server: "https://$api:6443", certificate-authority: ca.crt}
users:
- name: kubernetes-admin
  user: {client-certificate: admin.crt, client-key: admin.key}
contexts:
- name: production
  context: {cluster: production, user: kubernetes-admin}
current-context: production
END
