import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { forbidden } from "../../api/api-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../api/object.ts";
import type { ObjectAccess } from "../../resources/definition.ts";
import { isAbout, nameIn, targetOf } from "../concerns.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX = "kube-api-access-";
const MIRROR = "kubernetes.io/config.mirror";
const DEFAULT_ACCOUNT = "default";
const TRIES = 10;

/** Every pod runs as a service account of its namespace and, unless told otherwise, gets its token. */
export function serviceAccount(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "ServiceAccount",
    handles: (request) => request.operation === "CREATE" && isAbout(request, "", "pods"),
    async mutate(request) {
      const { object } = request;
      if (!object || !isObject(object.spec) || object.metadata.annotations?.[MIRROR] !== undefined) return;
      const { spec } = object;
      if (!spec.serviceAccountName) spec.serviceAccountName = DEFAULT_ACCOUNT;
      spec.serviceAccount = spec.serviceAccountName;
      const account = await requireAccount(access, request, String(spec.serviceAccountName));
      if (automounts(spec, account)) mountToken(spec);
      if (!Array.isArray(spec.imagePullSecrets) || spec.imagePullSecrets.length === 0) {
        if (Array.isArray(account.imagePullSecrets)) spec.imagePullSecrets = [...account.imagePullSecrets];
      }
    },
  };
}

async function requireAccount(access: ObjectAccess, request: AdmissionRequest, name: string): Promise<KubeObject> {
  const { namespace } = request;
  // The account that every namespace gets may be on its way.
  const tries = name === DEFAULT_ACCOUNT ? TRIES : 1;
  for (let count = 1; ; count += 1) {
    const account = await access.find("", "serviceaccounts", { namespace, name });
    if (account) return account;
    if (count >= tries) break;
    await sleep(100 + randomInt(100));
  }
  const text = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
  throw forbidden(targetOf(request), nameIn(request), text);
}

function automounts(spec: JsonObject, account: KubeObject): boolean {
  const choice = spec.automountServiceAccountToken ?? account.automountServiceAccountToken;
  return choice !== false;
}

/** Adds the volume with the token, the root certificates and the namespace, and mounts it where nothing else is. */
function mountToken(spec: JsonObject): void {
  const volumes = Array.isArray(spec.volumes) ? spec.volumes : [];
  const existing = volumes.find((one) => isObject(one) && String(one.name).startsWith(VOLUME_PREFIX));
  const name = isObject(existing) ? String(existing.name) : VOLUME_PREFIX + suffix();
  let isMounted = false;
  for (const member of ["containers", "initContainers"]) {
    const containers = spec[member];
    if (!Array.isArray(containers)) continue;
    for (const container of containers) if (isObject(container)) isMounted = mount(container, name) || isMounted;
  }
  if (isMounted && !existing) spec.volumes = [...volumes, tokenVolume(name)];
}

function mount(container: JsonObject, name: string): boolean {
  const mounts = Array.isArray(container.volumeMounts) ? container.volumeMounts : [];
  if (mounts.some((one) => isObject(one) && one.mountPath === MOUNT_PATH)) return false;
  container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
  return true;
}

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

function suffix(): string {
  return Array.from({ length: 5 }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join("");
}

function tokenVolume(name: string): Json {
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
