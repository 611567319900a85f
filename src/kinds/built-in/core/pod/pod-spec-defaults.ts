import { isObject, type Json } from "../../../../base/api/object.ts";
import type { Container, EphemeralContainer, LifecycleHandler, Probe } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { containersOf } from "../../../types/pod-containers.ts";
import { imageTag } from "../../shared-rules/image-name.ts";
import { roundResourceList, roundResources } from "../../shared-rules/quantities.ts";
import { setVolumeDefaults } from "../volume/volume-defaults.ts";

/** Sets defaults of a PodTemplateSpec. Changes `template`. */
export function setPodTemplateDefaults(template: Json | undefined): void {
  if (isObject(template)) setPodSpecDefaults(template.spec);
}

/** Sets defaults of a PodSpec. Changes `spec`. Upstream: `SetDefaults_PodSpec`. */
export function setPodSpecDefaults(given: Json | undefined): void {
  if (!isObject(given)) return;
  const spec: PodSpec = given;
  mirrorServiceAccount(spec);
  spec.dnsPolicy ??= "ClusterFirst";
  spec.restartPolicy ??= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= "default-scheduler";
  for (const volume of spec.volumes ?? []) setVolumeDefaults(volume);
  for (const container of containersOf(spec)) setContainerDefaults(container);
  roundResourceList(spec.overhead);
  roundResources(spec.resources);
}

/** Compat: serviceAccountName takes precedence over serviceAccount, its deprecated alias; both are stored. */
function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** The probes that a container has. */
export function probesOf({ livenessProbe, readinessProbe, startupProbe }: Container): Probe[] {
  return [livenessProbe, readinessProbe, startupProbe].filter((probe) => probe !== undefined);
}

function setContainerDefaults(container: Container | EphemeralContainer): void {
  if (container.imagePullPolicy === undefined) {
    container.imagePullPolicy = imageTag(container.image ?? "") === "latest" ? "Always" : "IfNotPresent";
  }
  container.terminationMessagePath ??= "/dev/termination-log";
  container.terminationMessagePolicy ??= "File";
  for (const port of container.ports ?? []) port.protocol ??= "TCP";
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ??= "v1";
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  roundResources(container.resources);
  for (const probe of probesOf(container)) setProbeDefaults(probe);
  setHttpDefaults(container.lifecycle?.postStart);
  setHttpDefaults(container.lifecycle?.preStop);
}

function setProbeDefaults(probe: Probe): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  setHttpDefaults(probe);
  if (probe.grpc) probe.grpc.service ??= "";
}

function setHttpDefaults(handler: LifecycleHandler | undefined): void {
  const get = handler?.httpGet;
  if (!get) return;
  get.path ??= "/";
  get.scheme ??= "HTTP";
}
