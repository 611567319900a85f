import type { AdmissionPlugin } from "../../admission/plugin.ts";
import { serviceResolver } from "../../aggregation/resolve.ts";
import type { Authorizer } from "../../api/attributes.ts";
import type { Call, Handler } from "../../api/call.ts";
import { groupOf } from "../../api/object.ts";
import { CatalogParts } from "../../custom/catalog-parts.ts";
import { KindsOnDemand, type ResourceName } from "../../custom/kinds-on-demand.ts";
import { OpenKinds } from "../../custom/open/open-kinds.ts";
import type { Log } from "../../lib/environment.ts";
import { translateStoreError } from "../../resources/model/store-errors.ts";
import type { Resources } from "../../resources/resources.ts";
import type { ParamKind } from "../../types/admission-registration.ts";
import { dynamicAdmission, type RulesObserver } from "../admission/dynamic-admission.ts";
import type { Config } from "../config.ts";
import { conversionCall } from "../webhooks/conversion-call.ts";
import { WebhookClient, type WebhookPoster } from "../webhooks/webhook-client.ts";

/** The options that decide which kinds there are besides the built-in ones, and where webhooks are found. */
export type KindOptions = Pick<Config, "customObjects" | "aggregatorRouting"> & {
  /** Whether other servers work on the same store. */
  readonly isShared: boolean;
};

/** Tells which resource a kind is; undefined when none is. */
export interface KindNames {
  resourceOf(kind: ParamKind): Promise<ResourceName | undefined>;
}

/** What the kinds of a thread depend on. */
export interface ThreadKindsOptions {
  readonly options: KindOptions;
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly observer: RulesObserver;
  readonly names: KindNames;
  readonly log: Log;
  /** Hears when a request begins to wait for a webhook, and when it has what it waited for. */
  readonly away: (isAway: boolean) => void;
}

/** The kinds, policies and webhooks that came after the start, as they are when a request is carried out. */
export interface ThreadKinds {
  readonly open: OpenKinds | undefined;
  readonly plugins: readonly AdmissionPlugin[];
  /** Has calls wait until what is stored about their kind and about admission is known. */
  readonly stage: (next: Handler) => Handler;
}

/**
 * Nothing is followed here: before a request is carried out, everything that it goes by is read from the store, and made
 * anew where it has changed since the last one.
 */
export function threadKinds(threadOptions: ThreadKindsOptions): ThreadKinds {
  const { options, resources, authorizer, observer, names, log, away } = threadOptions;
  const { catalog, clock, random } = resources;
  const parts = new CatalogParts(catalog);
  const resolve = serviceResolver(resources, options.aggregatorRouting);
  const client = awayWhile(new WebhookClient({ clock, resolve }), away);
  const { isShared } = options;
  const serving = { conversion: { call: conversionCall(client), random }, isShared, hooks: new Map() };
  const kinds = new KindsOnDemand({ resources, parts, serving });
  const report = (error: unknown) => log.error("open resources cannot be followed", { err: error });
  // Whether a group belongs to somebody else was asked where the request came in.
  const isOwned = () => false;
  const open = options.customObjects === "open" ? new OpenKinds({ resources, parts, isOwned, report }) : undefined;
  const dynamic = dynamicAdmission({ resources, authorizer, client, observer, log });
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

/** Several webhooks may be asked at the same time. */
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
