import { dynamicAdmission, type RulesObserver } from "../../../access/admission/configuration/dynamic-admission.ts";
import type { AdmissionPlugin } from "../../../access/admission/plugin.ts";
import { WebhookClient, type WebhookPoster } from "../../../access/webhooks/webhook-client.ts";
import type { Authorizer } from "../../../base/api/attributes.ts";
import { THREAD_LIMITS } from "../../../base/api/body-limits.ts";
import type { Call, Handler } from "../../../base/api/call.ts";
import { groupOf } from "../../../base/api/object.ts";
import type { Log } from "../../../base/util/environment.ts";
import { CatalogParts } from "../../../kinds/custom/catalog-parts.ts";
import { KindsOnDemand, type ResourceName } from "../../../kinds/custom/kinds-on-demand.ts";
import type { OpenKinds } from "../../../kinds/custom/open/open-kinds.ts";
import type { ParamKind } from "../../../kinds/types/admission-registration.ts";
import { translateStoreError } from "../../../resources/model/store-errors.ts";
import type { Resources } from "../../../resources/resources.ts";
import { serviceResolver } from "../../../serving/connect/resolve-service.ts";
import { assembleOpenKinds } from "../assemble-open-kinds.ts";
import type { Config } from "../config.ts";
import { conversionCall } from "../conversion-call.ts";

/** The options that decide which kinds there are besides the built-in ones, and where webhooks are found. */
export type KindOptions = Pick<Config, "customObjects" | "aggregatorRouting" | "apiDomain"> & {
  /** Whether other servers work on the same store. */
  readonly isShared: boolean;
};

/** Finds the resource of a kind. */
export interface KindNames {
  resourceOf(kind: ParamKind): Promise<ResourceName | undefined>;
}

/** Parts that the kinds of a thread depend on. */
export interface ThreadKindsOptions {
  readonly options: KindOptions;
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly observer: RulesObserver;
  readonly names: KindNames;
  readonly log: Log;
  /** Called when a request begins to wait for a webhook, and when it continues. */
  readonly away: (isAway: boolean) => void;
}

/** The current custom kinds, policies and webhooks. */
export interface ThreadKinds {
  readonly open: OpenKinds | undefined;
  readonly plugins: readonly AdmissionPlugin[];
  /** Delays calls until their kinds and the admission configuration have been read. */
  readonly stage: (next: Handler) => Handler;
}

/** Does not watch anything: before each request, it reads the kinds and the admission configuration, and rebuilds what has changed. */
export function threadKinds(threadOptions: ThreadKindsOptions): ThreadKinds {
  const { options, resources, authorizer, observer, names, log, away } = threadOptions;
  const { catalog, clock, random } = resources;
  const parts = new CatalogParts(catalog);
  const resolve = serviceResolver(resources, options.aggregatorRouting);
  const client = awayWhile(new WebhookClient({ clock, resolve, limits: THREAD_LIMITS }), away);
  const { isShared } = options;
  const serving = { conversion: { call: conversionCall(client, clock), random }, isShared, hooks: new Map() };
  const kinds = new KindsOnDemand({ resources, parts, serving });
  // The main thread has already checked the owner of the group.
  const isOwned = () => false;
  const open = assembleOpenKinds(options, { resources, parts, isOwned, authorizer, log });
  const dynamic = dynamicAdmission({
    resources,
    authorizer,
    client,
    observer,
    log,
    maxValues: THREAD_LIMITS.maxValues,
  });
  const builtIn = new Set(parts.builtIn.map(({ group }) => group));
  const paramResources = async (): Promise<ResourceName[]> => {
    const defined = dynamic.paramKinds().filter(({ apiVersion = "" }) => !builtIn.has(groupOf(apiVersion)));
    const byName = new Map(defined.map((kind) => [`${kind.apiVersion}/${kind.kind}`, kind]));
    const found = await Promise.all(Array.from(byName.values(), (kind) => names.resourceOf(kind)));
    return found.filter((one) => one !== undefined);
  };
  const prepare = async ({ info, signal }: Call): Promise<void> => {
    const isRead = info.verb === "get";
    await Promise.all([open?.loaded(signal), isRead ? undefined : dynamic.loaded(signal)]);
    await kinds.prepare([info, ...(isRead ? [] : await paramResources())]);
  };
  return {
    open,
    plugins: dynamic.plugins,
    stage: (next) => async (call) => {
      await prepare(call).catch((error: unknown) => {
        throw translateStoreError(error, { target: call.info, operation: "get" });
      });
      return next(call);
    },
  };
}

/** Reports while at least one webhook call is running. */
function awayWhile(client: WebhookPoster, away: (isAway: boolean) => void): WebhookPoster {
  let asked = 0;
  return {
    async post(request) {
      if (asked++ === 0) away(true);
      try {
        return await client.post(request);
      } finally {
        if (--asked === 0) away(false);
      }
    },
  };
}
