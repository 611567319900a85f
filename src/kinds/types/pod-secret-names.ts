import { isObject, type Json } from "../../base/api/object.ts";
import { addAll } from "../../base/util/add-all.ts";
import type { PodSpec } from "./pod.ts";
import type { Volume } from "./volume.ts";

/** Volume types with a secretRef. */
export const SECRET_REFERENCES = ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"] as const;

/** The names of the Secrets that a Pod mounts or reads. Upstream: `VisitPodSecretNames`. */
export function podSecretNames(spec: PodSpec): Set<string> {
  const { containers = [], initContainers = [], ephemeralContainers = [], imagePullSecrets, volumes } = spec;
  const names: (Json | undefined)[] = (imagePullSecrets ?? []).map(({ name }) => name);
  for (const { env, envFrom } of [...containers, ...initContainers, ...ephemeralContainers]) {
    for (const { secretRef } of envFrom ?? []) names.push(secretRef?.name);
    for (const { valueFrom } of env ?? []) names.push(valueFrom?.secretKeyRef?.name);
  }
  for (const volume of volumes ?? []) addAll(names, volumeSecrets(volume));
  return new Set(names.filter((name) => typeof name === "string" && name !== "") as string[]);
}

function volumeSecrets(volume: Volume): (Json | undefined)[] {
  const { azureFile, secret, csi, projected } = volume;
  return [
    azureFile?.secretName,
    secret?.secretName,
    nameIn(csi, "nodePublishSecretRef"),
    ...SECRET_REFERENCES.map((member) => nameIn(volume[member] as Json | undefined, "secretRef")),
    ...(projected?.sources ?? []).map((source) => source.secret?.name),
  ];
}

function nameIn(source: Json | undefined, member: string): Json | undefined {
  const reference = isObject(source) ? source[member] : undefined;
  return isObject(reference) ? reference.name : undefined;
}
