import type { KubernetesObject, V1Deployment } from "@kubernetes/client-node";

/** A web page that is served by a Deployment behind a Service. */
export interface Website extends KubernetesObject {
  spec: {
    html: string;
    image: string;
    replicas: number;
    domain?: string;
    expiresAfterSeconds?: number;
  };
  status?: WebsiteStatus;
}

export interface WebsiteStatus {
  observedGeneration?: number;
  url?: string;
  conditions?: Condition[];
}

export interface Condition {
  type: string;
  status: "True" | "False";
  reason: string;
  lastTransitionTime: string;
}

/** The arguments of CustomObjectsApi that name the resource. */
export const WEBSITES = { group: "web.example", version: "v1", plural: "websites" } as const;

/** The status of a website, given its Deployment. */
export function statusOf(website: Website, deployment: V1Deployment, now: Date): WebsiteStatus {
  const { metadata, spec, status } = website;
  const { isReady, reason } = readiness(deployment);
  const state = isReady ? "True" : "False";
  const before = status?.conditions?.find(({ type }) => type === "Ready");
  const lastTransitionTime =
    before?.status === state ? before.lastTransitionTime : now.toISOString().replace(/\.\d+Z/, "Z");
  return {
    observedGeneration: metadata?.generation ?? 0,
    url: `http://${spec.domain ?? `${metadata?.name}.${metadata?.namespace}.svc`}`,
    conditions: [{ type: "Ready", status: state, reason, lastTransitionTime }],
  };
}

function readiness({ metadata, status }: V1Deployment): { isReady: boolean; reason: string } {
  const condition = (type: string) => status?.conditions?.find((one) => one.type === type);
  const progressing = condition("Progressing");
  if (progressing?.status === "False") return { isReady: false, reason: progressing.reason ?? "Failed" };
  const isCurrent = status?.observedGeneration === metadata?.generation;
  if (isCurrent && condition("Available")?.status === "True") return { isReady: true, reason: "Available" };
  return { isReady: false, reason: "Deploying" };
}

/** Whether the website has existed for longer than it should. */
export function isExpired({ metadata, spec }: Website, now: Date): boolean {
  const createdMs = new Date(metadata?.creationTimestamp ?? now).getTime();
  return spec.expiresAfterSeconds !== undefined && now.getTime() >= createdMs + spec.expiresAfterSeconds * 1000;
}
