import { plainError } from "../../../base/api/api-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { Random } from "../../../base/util/random.ts";
import { type PodSpec, podSpecOf } from "../../../kinds/types/pod.ts";
import type { Volume } from "../../../kinds/types/volume.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { randomSuffix } from "../../../resources/write/metadata.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { ephemeralSecretProblem, limitsSecrets, referencesSecrets, secretProblem } from "./secret-references.ts";

const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX = "kube-api-access-";
const MIRROR = "kubernetes.io/config.mirror";
const DEFAULT_ACCOUNT = "default";
const TRIES = 10;

/**
 * ServiceAccount: sets the ServiceAccount of pods and, unless automountServiceAccountToken is false, mounts its token.
 */
export function serviceAccount(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "ServiceAccount",
    handles: (request) => isCreation(request) || isEphemeral(request),
    async mutate(request) {
      const { object } = request;
      if (!object || !isCreation(request)) return;
      // A mirror pod only represents a static pod, so it is not changed.
      if (isMirror(object)) return checkMirror(request, object);
      const spec = podSpecOf(object);
      if (!spec.serviceAccountName) {
        spec.serviceAccountName = DEFAULT_ACCOUNT;
        spec.serviceAccount = DEFAULT_ACCOUNT;
      }
      const account = await requireAccount(access, request, spec.serviceAccountName);
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken !== false)
        mountToken(spec, access.random);
      if ((spec.imagePullSecrets ?? []).length === 0 && Array.isArray(account.imagePullSecrets)) {
        spec.imagePullSecrets = account.imagePullSecrets.map((one) => ({ ...(one as { name?: string }) }));
      }
      checkSecrets(request, spec, account);
    },
    async validate(request) {
      const { object } = request;
      if (!object) return;
      if (isCreation(request) && isMirror(object)) return checkMirror(request, object);
      const spec = podSpecOf(object);
      if (!spec.serviceAccountName) {
        const name = `${request.namespace}/${object.metadata.name ?? ""}`;
        throw refusal(request, `no service account specified for pod ${name}`);
      }
      const account = await requireAccount(access, request, spec.serviceAccountName);
      if (isCreation(request)) return checkSecrets(request, spec, account);
      const problem = limitsSecrets(account) ? ephemeralSecretProblem(spec, account) : undefined;
      // Compat: errors of `limitEphemeralContainerSecretReferences` are not wrapped in `admission.NewForbidden`, so
      // this is a 500.
      if (problem !== undefined) throw plainError(500, problem);
    },
  };
}

const isCreation = (request: AdmissionRequest) => request.operation === "CREATE" && targets(request, "", "pods");
const isEphemeral = (request: AdmissionRequest) =>
  request.operation === "UPDATE" && targets(request, "", "pods", "ephemeralcontainers");
const isMirror = (pod: KubeObject) => pod.metadata.annotations?.[MIRROR] !== undefined;

function checkMirror(request: AdmissionRequest, pod: KubeObject): void {
  const spec = podSpecOf(pod);
  if (spec.serviceAccountName) throw refusal(request, "a mirror pod may not reference service accounts");
  if (referencesSecrets(spec)) throw refusal(request, "a mirror pod may not reference secrets");
  if (!(spec.volumes ?? []).some(projectsToken)) return;
  throw refusal(request, "a mirror pod may not use ServiceAccountToken volume projections");
}

function projectsToken({ projected }: Volume): boolean {
  return (projected?.sources ?? []).some(({ serviceAccountToken }) => serviceAccountToken !== undefined);
}

function checkSecrets(request: AdmissionRequest, spec: PodSpec, account: KubeObject): void {
  const problem = limitsSecrets(account) ? secretProblem(spec, account) : undefined;
  if (problem !== undefined) throw refusal(request, problem);
}

async function requireAccount(access: ObjectAccess, request: AdmissionRequest, name: string): Promise<KubeObject> {
  const { namespace } = request;
  // The default account of a new namespace may not have been created yet.
  const tries = name === DEFAULT_ACCOUNT ? TRIES : 1;
  for (let count = 1; ; count += 1) {
    const account = await access.find("", "serviceaccounts", { namespace, name });
    if (account) return account;
    if (count >= tries) break;
    await access.clock.sleep(100 + access.random.integer(100));
  }
  const problems = pathSegment(name);
  const reason =
    problems.length > 0
      ? `invalid resource name ${quote(name)}: [${problems.join(" ")}]`
      : `serviceaccount "${name}" not found`;
  throw refusal(request, `error looking up service account ${namespace}/${name}: ${reason}`);
}

/**
 * Adds the kube-api-access volume with token, kube-root-ca.crt and namespace. Mounts it in containers that mount
 * nothing at its path.
 */
function mountToken(spec: PodSpec, random: Random): void {
  const { volumes = [] } = spec;
  const existing = volumes.find((one) => one.name?.startsWith(VOLUME_PREFIX));
  const name = existing?.name ?? VOLUME_PREFIX + randomSuffix(random);
  let isMounted = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const { volumeMounts = [] } = container;
    if (volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...volumeMounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
    isMounted = true;
  }
  if (isMounted && !existing) spec.volumes = [...volumes, tokenVolume(name)];
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
      defaultMode: 420,
    },
  };
}
