import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { podSecretNames } from "../../../../kinds/types/pod-secret-names.ts";
import type { Secret, ServiceAccount } from "../../../../kinds/types/secret.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { storedResource } from "../../../../resources/model/stored-resource.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { readFresh } from "../../shared/fresh.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { periodic } from "../../shared/periodic.ts";
import { refersTo, tokenReference } from "../serviceaccount-token/token-secret.ts";

const NAME = "legacy-serviceaccount-token-cleaner-controller";
const TRACKING = { namespace: "kube-system", name: "kube-apiserver-legacy-service-account-token-tracking" };
const LAST_USED = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";
const DAY_MS = 86_400_000;
/** Compat: `--legacy-service-account-token-clean-up-period`. */
const UNUSED_MS = 365 * DAY_MS;

/**
 * legacy-serviceaccount-token-cleaner-controller: marks generated tokens in Secrets as invalid that have not been used for a
 * year, and deletes them after another year. Generated tokens are listed in `secrets` of their ServiceAccount.
 */
export function legacyTokenCleaner({ resources, client, informers, report }: ManagerContext): Controller {
  const { clock, catalog } = resources;
  const { informer: secrets } = informers.of<Secret>("", "secrets");
  const { informer: accounts } = informers.of<ServiceAccount>("", "serviceaccounts");
  const { informer: pods, byNamespace: podsByNamespace } = informers.of<Pod>("", "pods");
  const configMaps = storedResource(catalog, "", "configmaps");

  /** Whether a token was generated: then its ServiceAccount lists it. Users create others, which are kept. */
  const isGenerated = (secret: Secret): boolean => {
    const reference = tokenReference(secret);
    const account = reference && accounts.get(`${reference.namespace}/${reference.account}`);
    if (!account || !refersTo(reference, account)) return false;
    return account.secrets?.some(({ name }) => name === secret.metadata.name) ?? false;
  };

  const isMounted = ({ metadata: { namespace = "", name = "" } }: Secret): boolean =>
    [...podsByNamespace.get(namespace)].some(({ spec }) => podSecretNames(spec ?? {}).has(name));

  const clean = async (secret: Secret, today: string, firstKept: string): Promise<void> => {
    const { namespace = "", name = "", uid, resourceVersion, labels = {} } = secret.metadata;
    const invalidSince = labels[INVALID_SINCE] ?? "";
    if (!isDate(invalidSince)) {
      const patch = { metadata: { uid, labels: { [INVALID_SINCE]: today } } };
      await client.patch(secrets.resource, { namespace, name }, patch).catch(unlessCode(404));
    } else if (invalidSince < firstKept) {
      const options = { preconditions: { resourceVersion } };
      await client.delete(secrets.resource, { namespace, name }, options).catch(unlessCode(404, 409));
    }
  };

  return periodic({
    name: NAME,
    everyMs: DAY_MS,
    clock,
    report,
    informers: [secrets, accounts, pods],
    async sweep() {
      const nowMs = clock.now();
      const trackedMs = trackedSince(await readFresh(resources, configMaps, { metadata: TRACKING }));
      if (nowMs < trackedMs + UNUSED_MS) return;
      const firstKept = dateOf(nowMs - UNUSED_MS);
      for (const secret of [...secrets.all()]) {
        if (!isUnused(secret, nowMs) || !isGenerated(secret) || isMounted(secret)) continue;
        await clean(secret, dateOf(nowMs), firstKept).catch((error: unknown) => report(NAME, error));
      }
    },
  });
}

/** Whether a token is older than a year and was not used in the last one. */
function isUnused(secret: Secret, nowMs: number): boolean {
  const { creationTimestamp = "", deletionTimestamp, labels = {} } = secret.metadata;
  const { [LAST_USED]: lastUsed } = labels;
  if (!tokenReference(secret) || deletionTimestamp !== undefined) return false;
  if (Date.parse(creationTimestamp) >= nowMs - UNUSED_MS) return false;
  return lastUsed === undefined || (isDate(lastUsed) && lastUsed < dateOf(nowMs - UNUSED_MS));
}

/** The end of the day on which kube-apiserver began to record uses. Infinity if it has not begun. */
function trackedSince(configMap: KubeObject | undefined): number {
  const since = isObject(configMap?.data) ? String(configMap.data.since ?? "") : "";
  return isDate(since) ? Date.parse(since) + DAY_MS : Number.POSITIVE_INFINITY;
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function isDate(text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && dateOf(ms) === text;
}
