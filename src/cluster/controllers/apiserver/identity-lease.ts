import { apiServerId } from "../../../base/api/api-server-id.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { printMicroTime } from "../../../resources/write/metadata.ts";
import { type Controller, type ControllerContext, unlessCode } from "../shared/controller.ts";

const GROUP = "coordination.k8s.io";
const PLURAL = "leases";
const NAMESPACE = "kube-system";
const IDENTITY_LABEL = "apiserver.kubernetes.io/identity";
const HOSTNAME_LABEL = "kubernetes.io/hostname";
const IDENTITY = "kube-apiserver";
const RENEW_INTERVAL_MS = 10_000;
const LEASE_DURATION_SECONDS = 3600;
const COLLECT_INTERVAL_MS = 3_600_000;

/**
 * Keeps the identity Lease of this server in kube-system: recreated at startup, renewed every ten seconds, and deleted
 * at shutdown. Compat: it lacks the annotation kubernetes.io/peer-advertise-address, with which kube-apiserver invites
 * its peers to proxy requests to it (UnknownVersionInteroperabilityProxy).
 */
export function identityLease(context: ControllerContext, hostname: string): Controller {
  const name = "kube-apiserver-identity-lease-controller";
  return {
    name,
    async run(signal) {
      const lease = new IdentityLease(context, hostname);
      await lease.remove();
      while (!signal.aborted) {
        await lease.renew().catch((error: unknown) => context.report(name, error));
        await context.resources.clock.sleep(RENEW_INTERVAL_MS, signal);
      }
      await lease.remove();
    },
  };
}

class IdentityLease {
  readonly #context: ControllerContext;
  readonly #resource: ServedResource;
  readonly #hostname: string;
  readonly #key: { readonly namespace: string; readonly name: string };
  readonly #holder: string;

  constructor(context: ControllerContext, hostname: string) {
    this.#context = context;
    this.#resource = storedResource(context.resources.catalog, GROUP, PLURAL);
    this.#hostname = hostname;
    this.#key = { namespace: NAMESPACE, name: apiServerId(hostname) };
    this.#holder = `${this.#key.name}_${context.resources.random.uuid()}`;
  }

  async renew(): Promise<void> {
    const { client, resources } = this.#context;
    const current = await resources.access.find(GROUP, PLURAL, this.#key, "newest");
    if (current) await client.update(this.#resource, this.#renewed(current));
    else await client.create(this.#resource, this.#renewed(undefined));
  }

  async remove(): Promise<void> {
    await this.#context.client.delete(this.#resource, this.#key).catch(unlessCode(404));
  }

  #renewed(current: KubeObject | undefined): KubeObject {
    const { metadata, spec } = current ?? { metadata: this.#key, spec: { holderIdentity: this.#holder } };
    const labels = { ...current?.metadata.labels, [IDENTITY_LABEL]: IDENTITY, [HOSTNAME_LABEL]: this.#hostname };
    const renewTime = printMicroTime(this.#context.resources.clock.now());
    return {
      kind: "Lease",
      apiVersion: this.#resource.apiVersion,
      metadata: { ...metadata, labels },
      spec: { ...(isObject(spec) ? spec : {}), leaseDurationSeconds: LEASE_DURATION_SECONDS, renewTime },
    };
  }
}

/** Deletes identity Leases that have expired or have no renew time. */
export function identityLeaseCollection(context: ControllerContext): Controller {
  const name = "kube-apiserver-identity-lease-garbage-collector";
  return {
    name,
    async run(signal) {
      while (!signal.aborted) {
        await deleteExpired(context).catch((error: unknown) => context.report(name, error));
        await context.resources.clock.sleep(COLLECT_INTERVAL_MS, signal);
      }
    },
  };
}

async function deleteExpired({ resources, client }: ControllerContext): Promise<void> {
  const resource = storedResource(resources.catalog, GROUP, PLURAL);
  for (const { metadata, spec } of await resources.access.list(GROUP, PLURAL, NAMESPACE)) {
    if (metadata.labels?.[IDENTITY_LABEL] !== IDENTITY || !isExpired(spec, resources.clock.now())) continue;
    const { name = "", uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    await client.delete(resource, { namespace: NAMESPACE, name }, { preconditions }).catch(unlessCode(404, 409));
  }
}

function isExpired(spec: KubeObject[string], nowMs: number): boolean {
  const { renewTime, leaseDurationSeconds } = isObject(spec) ? spec : {};
  if (typeof renewTime !== "string" || typeof leaseDurationSeconds !== "number") return true;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 < nowMs;
}
