import { builtInActions } from "../actions/all.ts";
import type { RoleRights } from "../actions/role-escalation.ts";
import { AdmissionChain } from "../admission/chain.ts";
import type { AdmissionPlugin } from "../admission/plugin.ts";
import { defaultPlugins } from "../admission/plugins/all.ts";
import { UNAVAILABLE_PLUGINS } from "../admission/plugins/plugin-table.ts";
import { selectPlugins } from "../admission/select-plugins.ts";
import type { Authorizer } from "../api/attributes.ts";
import type { Handler } from "../api/call.ts";
import type { Identities } from "../api/identity.ts";
import type { TokenIssuer } from "../api/token-issuer.ts";
import type { SchemaOf } from "../encoding/protobuf/envelope.ts";
import type { Environment } from "../lib/environment.ts";
import type { MetricRegistry } from "../lib/metrics.ts";
import { Resources } from "../resources/resources.ts";
import { builtInSchema } from "../schema-files/built-in-schemas.ts";
import type { Store } from "../storage/store.ts";
import { dispatch } from "../verbs/dispatch.ts";
import type { Connector, OpenResources } from "../verbs/target.ts";
import type { Config } from "./config.ts";
import { admissionMetrics } from "./metrics/admission-metrics.ts";
import { objectMetrics } from "./metrics/object-metrics.ts";
import { objectKinds } from "./object-kinds.ts";
import { healthProbe } from "./probe-health.ts";

/** The options that decide what objects are and how they are kept. */
export type ObjectOptions = Pick<
  Config,
  "apiDomain" | "eventTtlMs" | "featureGates" | "etcdPrefix" | "admissionPlugins"
>;

/** All kinds with their objects, and the shapes by which bytes are read. */
export interface ObjectParts {
  readonly resources: Resources;
  readonly schemaOf: SchemaOf;
}

/**
 * Builds the built-in kinds and their objects over a store. `issuer` signs tokens of service accounts, `rights` tells what
 * writers of roles may give away; `keptViews` is for
 * `Resources`.
 */
export function objectParts(
  options: ObjectOptions & { readonly keptViews?: number },
  store: Store,
  { clock, random }: Pick<Environment, "clock" | "random">,
  issuer: TokenIssuer,
  rights: () => RoleRights,
): ObjectParts {
  const { catalog, keys, codec, features, schemaOf } = objectKinds(options, clock);
  const actions = builtInActions(healthProbe(clock), issuer, rights);
  const { keptViews } = options;
  const resources = new Resources({ store, catalog, clock, random, keys, codec, actions, features, keptViews });
  return { resources, schemaOf };
}

/** Whom admission and reviews ask about callers. */
export interface Judges {
  readonly authorizer: Authorizer;
  readonly identities: Identities;
  /** What writers of roles may give away. */
  readonly rights: RoleRights;
}

/** What only the server's own thread has. */
export interface HandlerParts {
  /** Finds resources that nobody defined. */
  readonly open?: OpenResources | undefined;
  /** Connects with what is behind objects. */
  readonly connector?: Connector;
  /** The plugins that ask policies and webhooks. */
  readonly dynamic?: readonly AdmissionPlugin[];
}

/**
 * Answers resource requests of group versions that are served: admission and the verbs, measured if there is a registry.
 */
export function objectHandler(
  { admissionPlugins }: ObjectOptions,
  { resources }: Pick<ObjectParts, "resources">,
  { authorizer, identities }: Pick<Judges, "authorizer" | "identities">,
  registry?: MetricRegistry,
  { open, connector, dynamic }: HandlerParts = {},
): Handler {
  const plugins = defaultPlugins({ resources, authorizer, dynamic });
  const selected = selectPlugins(plugins, UNAVAILABLE_PLUGINS, admissionPlugins);
  const { clock } = resources;
  const observed = registry && { observer: admissionMetrics(registry), clock };
  const admission = new AdmissionChain(selected, observed);
  const observer = registry && objectMetrics(registry);
  const deleteOptionsSchema = () => builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
  return (call) => dispatch({ resources, admission, identities, deleteOptionsSchema, observer, open, connector }, call);
}
