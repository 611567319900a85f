import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import type { DefaultsContext } from "../../../../resources/model/definition.ts";
import type { Container } from "../../../types/container.ts";
import { podSpecOf } from "../../../types/pod.ts";
import { containersOf } from "../../../types/pod-containers.ts";
import type { PodStatus } from "../../../types/pod-status.ts";
import { roundResourceList, roundResources } from "../../shared-rules/quantities.ts";
import { probesOf, setPodSpecDefaults } from "./pod-spec-defaults.ts";

/** Sets defaults of a Pod. Templates get fewer. Changes `pod`. Upstream: `SetDefaults_Pod`. */
export function setPodDefaults(pod: KubeObject, _apiVersion: string, { features }: DefaultsContext): void {
  const spec = podSpecOf(pod);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    setRequests(container);
    if (spec.hostNetwork) setHostPorts(container);
  }
  spec.enableServiceLinks ??= true;
  setPodSpecDefaults(spec);
  if (features.enabled("H2CContainerProbe")) {
    for (const container of containersOf(spec)) setHttpProtocols(container);
  }
  if (isObject(pod.status)) setStatusDefaults(pod.status);
}

/** Upstream: `defaultHTTPProbeProtocol`. */
function setHttpProtocols(container: Container): void {
  const { lifecycle } = container;
  for (const handler of [...probesOf(container), lifecycle?.postStart, lifecycle?.preStop]) {
    if (handler?.httpGet) handler.httpGet.protocol ??= "HTTP1";
  }
}

/** Requests default to limits. */
function setRequests({ resources }: Container): void {
  if (!resources?.limits) return;
  const requests = { ...resources.limits, ...resources.requests };
  const names = Object.keys(requests).sort();
  resources.requests = Object.fromEntries(names.map((name) => [name, requests[name] ?? "0"]));
}

function setHostPorts({ ports = [] }: Container): void {
  for (const port of ports) if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort;
}

function setStatusDefaults(status: PodStatus): void {
  const { podIP = "", podIPs = [] } = status;
  const [first] = podIPs;
  if (podIP === "" && first) {
    if (first.ip) status.podIP = first.ip;
  } else if (podIP !== "" && first?.ip !== podIP) {
    // Compat: `status.podIP` takes precedence over `status.podIPs` if the first of these differs.
    status.podIPs = [{ ip: podIP }];
  }
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  for (const container of [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]) {
    roundResourceList(container.allocatedResources);
    roundResources(container.resources);
  }
  roundResourceList(status.allocatedResources);
  roundResources(status.resources);
}
