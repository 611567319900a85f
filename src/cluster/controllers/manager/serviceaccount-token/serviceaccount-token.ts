import { parseJsonText } from "../../../../base/util/parse-json.ts";
import type { Secret, ServiceAccount } from "../../../../kinds/types/secret.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import type { Credentials } from "../../shared/credentials.ts";
import { readFresh } from "../../shared/fresh.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import {
  completeSecret,
  legacyClaims,
  missingIn,
  refersTo,
  type TokenReference,
  tokenReference,
} from "./token-secret.ts";

/** Compat: `--concurrent-serviceaccount-token-syncs`. */
const WORKERS = 5;

/**
 * serviceaccount-token-controller: writes the token and the CA into Secrets of type
 * kubernetes.io/service-account-token, deletes those whose ServiceAccount does not exist, and removes deleted ones from
 * `secrets` of their ServiceAccount.
 */
export function serviceAccountTokens(context: ManagerContext, { rootCa, signToken }: Credentials): Controller {
  const { resources, client, informers, report } = context;
  const { informer: secrets } = informers.of<Secret>("", "secrets");
  const { informer: accounts } = informers.of<ServiceAccount>("", "serviceaccounts");
  const byAccount = secrets.index((secret) => {
    const reference = tokenReference(secret);
    return reference ? [accountKey(reference.namespace, reference.account, reference.accountUid)] : [];
  });

  const accountOf = async (reference: TokenReference): Promise<ServiceAccount | undefined> => {
    const { namespace, account } = reference;
    const known = accounts.get(`${namespace}/${account}`);
    if (known && refersTo(reference, known)) return known;
    const fresh = await readFresh(resources, accounts.resource, { metadata: { namespace, name: account } });
    return fresh && refersTo(reference, fresh) ? fresh : undefined;
  };

  const complete = async (known: Secret, account: ServiceAccount): Promise<void> => {
    if (!missingIn(known, rootCa)) return;
    const secret: Secret | undefined = await readFresh(resources, secrets.resource, known);
    // A newer version is synced when the informer shows it.
    if (secret?.metadata.resourceVersion !== known.metadata.resourceVersion) return;
    const missing = secret && missingIn(secret, rootCa);
    if (!missing) return;
    const token = missing.token ? await signToken(legacyClaims(secret, account)) : undefined;
    const completed = completeSecret(secret, account, missing, { rootCa, token });
    await client.update(secrets.resource, completed).catch(unlessCode(404, 409));
  };

  const removeReference = async (reference: TokenReference): Promise<void> => {
    const { namespace, account, name } = reference;
    const known = accounts.get(`${namespace}/${account}`);
    if (!known || !refersTo(reference, known)) return;
    const fresh: ServiceAccount | undefined = await readFresh(resources, accounts.resource, known);
    const listed = fresh?.secrets ?? [];
    const left = listed.filter((one) => one.name !== name);
    if (!fresh || !refersTo(reference, fresh) || left.length === listed.length) return;
    await client.update(accounts.resource, { ...fresh, secrets: left }).catch(unlessCode(404));
  };

  return loop({
    name: "serviceaccount-token-controller",
    workers: WORKERS,
    clock: resources.clock,
    report,
    sources: [
      source(secrets, (queue) => (before, after) => {
        const reference = tokenReference(after ?? before ?? NO_SECRET);
        if (reference) queue.add(JSON.stringify(reference));
      }),
      source(accounts, (queue) => (before, after) => {
        if (!before || after) return;
        const { namespace = "", name = "", uid = "" } = before.metadata;
        for (const secret of byAccount.get(accountKey(namespace, name, uid))) {
          queue.add(JSON.stringify(tokenReference(secret)));
        }
      }),
    ],
    async sync(key) {
      const reference = parseJsonText(key) as TokenReference;
      const { namespace, name, uid } = reference;
      const secret = secrets.get(`${namespace}/${name}`);
      if (secret?.metadata.uid !== uid) return removeReference(reference);
      const account = await accountOf(reference);
      if (account) return complete(secret, account);
      // The uid belongs to another Secret by now if this conflicts.
      const options = { preconditions: { uid } };
      await client.delete(secrets.resource, { namespace, name }, options).catch(unlessCode(404, 409));
    },
  });
}

const NO_SECRET: Secret = { kind: "Secret", apiVersion: "v1", metadata: {} };

const accountKey = (namespace: string, name: string, uid: string): string => `${namespace}/${name}/${uid}`;
