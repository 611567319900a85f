# What a cluster does, as PASS and FAIL lines. Needs KUBECONFIG, DEMO (demo.yaml), and a running controller manager, scheduler and KWOK; run.ts starts it.
K="kubectl --kubeconfig $KUBECONFIG"
check() { # name, timeout, jsonpath-command, expected regex
  local n="$1" t="$2" want="$4" got i
  for i in $(seq $((t*2))); do got=$(eval "$3" 2>&1); if [[ "$got" =~ $want ]]; then echo "PASS $n ($((i/2))s) got=$(echo "$got"|tr '\n' ' '|cut -c1-100)"; return; fi; sleep 0.5; done
  echo "FAIL $n want=$want got=$(echo "$got"|tr '\n' ' '|cut -c1-400)"
}
jp() { echo "$K get $1 -o jsonpath='$2'"; }
for i in 0 1 2 3 4; do cat <<Y
---
apiVersion: v1
kind: Node
metadata:
  name: kwok-node-$i
  annotations: {node.alpha.kubernetes.io/ttl: "0", kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/arch: amd64, kubernetes.io/hostname: kwok-node-$i, kubernetes.io/os: linux, type: kwok}
status:
  allocatable: {cpu: 32, memory: 256Gi, pods: 110}
  capacity: {cpu: 32, memory: 256Gi, pods: 110}
Y
done | $K create -f - >/dev/null
$K wait node --all --for=condition=Ready --timeout=60s >/dev/null
$K apply -f "$DEMO" 2>&1 | grep -vE 'created|Warning|unchanged|configured'
check deployment 40 "$(jp '-n demo deploy/web' '{.status.readyReplicas}/{.status.replicas}/{.status.observedGeneration}')" '^4/4/'
check rs-owner 5 "$K -n demo get rs -o jsonpath='{.items[0].metadata.ownerReferences[0].kind}'" Deployment
check statefulset 60 "$(jp '-n demo sts/db' '{.status.readyReplicas}')" '^3$'
check daemonset 20 "$(jp '-n demo ds/agent' '{.status.numberReady}')" '^5$'
check job-indexed 40 "$(jp '-n demo job/once' '{.status.succeeded} {.status.completedIndexes}')" '^3 0-2'
check job-ttl-gone 40 "$K -n demo get job ttl" 'NotFound'
check rc 20 "$(jp '-n demo rc/old' '{.status.readyReplicas}')" '^2$'
check hpa-min 40 "$(jp '-n demo hpa/web' '{.status.desiredReplicas}')" '^4$'
check hpa-condition 40 "$(jp '-n demo hpa/web' '{.status.conditions[?(@.type=="ScalingActive")].reason}')" 'FailedGetResourceMetric'
check pdb 20 "$(jp '-n demo pdb/web' '{.status.currentHealthy}/{.status.desiredHealthy}/{.status.disruptionsAllowed}')" '^4/3/1'
check epslice 20 "$K -n demo get endpointslices -l kubernetes.io/service-name=web -o jsonpath='{.items[0].endpoints[*].conditions.ready}'" 'true true true true'
check epslice-mirror 20 "$K -n demo get endpointslices -l kubernetes.io/service-name=manual -o jsonpath='{.items[0].endpoints[0].addresses[0]}'" '192.0.2.7'
check endpoints 20 "$K -n demo get endpoints web -o jsonpath='{.subsets[0].addresses[*].ip}'" '10\..*10\..*10\..*10\.'
check quota 20 "$(jp '-n demo quota/quota' '{.status.used.persistentvolumeclaims} {.status.used.services} {.status.used.count/deployments\\.apps}')" '^3 4'
check pv-bound 20 "$K get pv -o jsonpath='{.items[*].status.phase}'" '(Bound.*){3}'
check cronjob 90 "$K -n demo get jobs -l '!x' -o jsonpath='{range .items[*]}{.metadata.name}:{.status.succeeded} {end}'" 'tick-[0-9]+:1'
# eviction: first allowed, second refused (until the deployment recovers)
P=($($K -n demo get pods -l app=web -o jsonpath='{.items[*].metadata.name}'))
for i in 0 1; do $K create --raw /api/v1/namespaces/demo/pods/${P[$i]}/eviction -f - <<<"{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"${P[$i]}\",\"namespace\":\"demo\"}}" > ev$i.out 2>&1; done
echo "evict: $(cat ev0.out | head -c 200) || $(cat ev1.out| head -c 250)"
check evict-recovers 30 "$(jp '-n demo deploy/web' '{.status.readyReplicas}')" '^4$'
# rollout
$K -n demo delete hpa web >/dev/null
$K -n demo set image deploy/web c=nginx:2 >/dev/null
check rollout 60 "$K -n demo rollout status deploy/web --timeout=1s" 'successfully rolled out'
$K -n demo rollout undo deploy/web > /dev/null
check rollout-undo 60 "$(jp '-n demo deploy/web' '{.spec.template.spec.containers[0].image} {.status.updatedReplicas} {.status.replicas}')" '^nginx 4 4'
$K -n demo scale deploy/web --replicas=6 >/dev/null
check scale 30 "$(jp '-n demo deploy/web' '{.status.readyReplicas}')" '^6$'
$K -n demo scale sts/db --replicas=1 >/dev/null
check sts-scale-down 40 "$(jp '-n demo sts/db' '{.status.replicas} {.status.currentReplicas}')" '^1 1'
$K -n demo set image ds/agent c=agent:2 >/dev/null
check ds-rollout 60 "$K -n demo rollout status ds/agent --timeout=1s" 'successfully rolled out'
# quota refusal
$K -n demo create deployment greedy --image=x --replicas=60 > /dev/null
check quota-refuses 40 "$K -n demo get events --field-selector reason=FailedCreate -o jsonpath='{.items[*].message}'" 'exceeded quota: quota'
check quota-cond 20 "$(jp '-n demo deploy/greedy' '{.status.conditions[?(@.type=="ReplicaFailure")].reason}')" 'FailedCreate'
$K -n demo delete deploy greedy > /dev/null
check bg-cascade 40 "$K -n demo get pods -l app=greedy -o name" '^(No resources.*)?$'
# foreground
$K -n demo delete rc old --cascade=foreground --timeout=40s > fg.out 2>&1
check fg-cascade 30 "$K -n demo get pods -l app=old -o name" '^(No resources.*)?$'
# orphan
$K -n demo delete ds agent --cascade=orphan --timeout=40s > or.out 2>&1; 
check orphan 20 "$K -n demo get pods -l app=agent -o jsonpath='{.items[*].metadata.ownerReferences}|{.items[0].metadata.labels.app}'" '^\|agent'
# preemption
cat <<Y | $K apply -f - >/dev/null
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100000
---
apiVersion: v1
kind: Namespace
metadata: {name: pre}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: low, namespace: pre}
spec: {replicas: 5, selector: {matchLabels: {a: low}}, template: {metadata: {labels: {a: low}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "25"}}}]}}}
Y
check low-running 20 "$(jp '-n pre deploy/low' '{.status.readyReplicas}')" '^5$'
cat <<Y | $K apply -f - >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: vip, namespace: pre}
spec: {priorityClassName: high, containers: [{name: c, image: x, resources: {requests: {cpu: "25"}}}]}
Y
check preemption 30 "$(jp '-n pre pod/vip' '{.status.phase}')" '^Running$'
check preempted-event 20 "$K -n pre get events --field-selector reason=Preempted -o jsonpath='{.items[*].reason}'" 'Preempted'
check failedscheduling-event 20 "$K -n pre get events --field-selector reason=FailedScheduling -o jsonpath='{.items[0].message}'" 'nodes are available'
# node taint NoExecute
$K taint node kwok-node-1 boom=1:NoExecute >/dev/null
check taint-evict 40 "$K get pods -A --field-selector spec.nodeName=kwok-node-1,status.phase=Running -o name" '^$|No resources'
$K taint node kwok-node-1 boom- >/dev/null
# node deletion -> pod gc
$K delete node kwok-node-2 >/dev/null
check podgc 90 "$K get pods -A --field-selector spec.nodeName=kwok-node-2 -o name" '^$|No resources'
# CSR
openssl req -new -newkey rsa:2048 -nodes -keyout csr.key -subj "/O=system:nodes/CN=system:node:x" -out csr.pem 2>/dev/null
$K delete csr x --ignore-not-found >/dev/null
cat <<Y | $K create -f - >/dev/null
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: x}
spec: {signerName: kubernetes.io/kube-apiserver-client, usages: [client auth, digital signature], request: $(base64 -w0 csr.pem)}
Y
$K certificate approve x >/dev/null
check csr-signed 20 "$(jp 'csr/x' '{.status.certificate}')" '^LS0t'
$K get csr x -o jsonpath='{.status.certificate}' | base64 -d >csr.crt
WITHOUT="kubectl --kubeconfig /dev/null --server $($K config view -o jsonpath='{.clusters[0].cluster.server}') --certificate-authority $AUTHORITY"
check csr-authenticates 5 "$WITHOUT --client-certificate csr.crt --client-key csr.key auth whoami -o jsonpath='{.status.userInfo.username}'" '^system:node:x$'
# aggregated cluster roles
cat <<Y | $K apply -f - >/dev/null
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: agg}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {agg: "yes"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part, labels: {agg: "yes"}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
Y
check clusterrole-agg 20 "$(jp 'clusterrole/agg' '{.rules[0].resources[0]}')" '^pods'
# legacy token secret
cat <<Y | $K apply -f - >/dev/null
apiVersion: v1
kind: Secret
metadata: {name: tok, namespace: demo, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
Y
check sa-token-secret 20 "$(jp '-n demo secret/tok' '{.data.token}')" '^ZXlK'
$K -n demo get secret tok -o jsonpath='{.data.token}' | base64 -d >token
check sa-token-authenticates 5 "$WITHOUT --token $(cat token) auth whoami -o jsonpath='{.status.userInfo.username}'" '^system:serviceaccount:demo:default$'
# WaitForFirstConsumer + local PV, generic ephemeral volume
cat <<Y | $K apply -f - >/dev/null
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: lpv}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  persistentVolumeReclaimPolicy: Retain
  local: {path: /x}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [kwok-node-3]}]}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: eph, namespace: demo}
spec:
  containers: [{name: c, image: x}]
  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 1Gi}}}}}}]
Y
check wffc-ephemeral 40 "$(jp '-n demo pod/eph' '{.status.phase} {.spec.nodeName}')" '^Running kwok-node-3'
check eph-pvc 20 "$(jp '-n demo pvc/eph-v' '{.status.phase} {.metadata.ownerReferences[0].kind} {.spec.volumeName}')" '^Bound Pod lpv'
# pvc protection
PV=$($K -n demo get pvc data-db-0 -o jsonpath='{.spec.volumeName}')
$K -n demo delete pvc data-db-0 --wait=false >/dev/null
sleep 2; check pvc-protected 5 "$(jp '-n demo pvc/data-db-0' '{.metadata.deletionTimestamp} {.metadata.finalizers}')" 'pvc-protection'
$K -n demo delete sts db > /dev/null
check pvc-released 40 "$K -n demo get pvc data-db-0" 'NotFound'
check pv-released 20 "$(jp "pv/$PV" '{.status.phase}')" 'Released'
# DRA
cat <<Y | $K apply -f - >/dev/null
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s3}
spec: {driver: gpu.example.com, nodeName: kwok-node-3, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: d0}, {name: d1}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: demo}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: dra, namespace: demo}
spec:
  containers: [{name: c, image: x, resources: {claims: [{name: g}]}}]
  resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]
Y
check dra 40 "$(jp '-n demo pod/dra' '{.status.phase} {.spec.nodeName}')" '^Running kwok-node-3'
check dra-claim 20 "$K -n demo get resourceclaims -o jsonpath='{.items[0].status.allocation.devices.results[0].driver} {.items[0].status.reservedFor[0].name}'" 'gpu.example.com dra'
# storage version migration
cat <<Y | $K apply -f - >/dev/null
apiVersion: storagemigration.k8s.io/v1beta1
kind: StorageVersionMigration
metadata: {name: m}
spec: {resource: {group: apps, resource: deployments}}
Y
check svm 120 "$K get storageversionmigration m -o jsonpath='{.status.conditions[*].type}'" 'Succeeded'
# VAP status controller
cat <<Y | $K apply -f - >/dev/null
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec: {matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}, validations: [{expression: "object.spec.replicas == 'a'"}]}
Y
check vap-typecheck 20 "$K get validatingadmissionpolicy p -o jsonpath='{.status.observedGeneration} {.status.typeChecking}'" '^1 .*expressionWarnings'
# namespace deletion with lots in it
$K delete ns demo pre --wait=false >/dev/null
check ns-gone 90 "$K get ns demo pre -o name" '^Error.*"demo" not found.*"pre" not found'
check ns-gone-content 5 "$K get --raw /api/v1/namespaces/demo/pods | head -c 300" '"items":\[\]'
$K delete pv,storageclass,priorityclass/high,clusterrole/agg,clusterrole/part,csr/x,storageversionmigration/m,validatingadmissionpolicy/p,deviceclass/gpu,resourceslice/s3 --all >/dev/null 2>&1
for r in clusterrole/agg clusterrole/part csr/x storageversionmigration/m validatingadmissionpolicy/p deviceclass/gpu resourceslice/s3 priorityclass/high; do $K delete $r >/dev/null 2>&1; done; $K delete pv --all >/dev/null 2>&1; $K delete storageclass --all > /dev/null 2>&1
