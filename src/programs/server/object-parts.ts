import { AdmissionChain } from "../../access/admission/chain.ts";
import { admissionMetrics } from "../../access/admission/metrics/admission-metrics.ts";
import type { AdmissionPlugin } from "../../access/admission/plugin.ts";
import { defaultPlugins } from "../../access/admission/plugins/all.ts";
import { UNAVAILABLE_PLUGINS } from "../../access/admission/plugins/plugin-table.ts";
import { selectPlugins } from "../../access/admission/select-plugins.ts";
import type { Authorizer } from "../../base/api/attributes.ts";
import type { Handler } from "../../base/api/call.ts";
import type { Identities } from "../../base/api/identity.ts";
import type { TokenIssuer } from "../../base/api/token-issuer.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { Environment } from "../../base/util/environment.ts";
import type { SchemaOf } from "../../data/encoding/protobuf/envelope.ts";
import { builtInActions, type MetricsActions } from "../../kinds/built-in/actions/all.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import type { RoleRights } from "../../kinds/types/role-rights.ts";
import { Resources } from "../../resources/resources.ts";
import { objectMetrics } from "../../serving/metrics/object-metrics.ts";
import { dispatch } from "../../serving/verbs/dispatch.ts";
import type { Connector, OpenResources } from "../../serving/verbs/target.ts";
import type { Store } from "../../storage/store.ts";
import type { Config } from "./config.ts";
import { objectKinds } from "./object-kinds.ts";
import { healthProbe } from "./probe-health.ts";

/** The options that determine kinds and how objects are stored. */
export type ObjectOptions = Pick<
  Config,
  "apiDomain" | "eventTtlMs" | "featureGates" | "etcdPrefix" | "admissionPlugins" | "minRequestTimeout"
> &
  Partial<Pick<Config, "simulatedNodes">>;

/** All kinds with their objects, and the protobuf schemas of kinds. */
export interface ObjectParts {
  readonly resources: Resources;
  readonly schemaOf: SchemaOf;
}

/**
 * Builds the built-in kinds and their objects over a store. `issuer` signs service account tokens. `rights` returns the
 * permissions that writers of roles may grant. `keptViews` is passed to `Resources`. `metrics` computes the usage of
 * resources.
 */
export function objectParts(
  options: ObjectOptions & { readonly keptViews?: number },
  store: Store,
  { clock, random }: Pick<Environment, "clock" | "random">,
  issuer: TokenIssuer,
  rights: () => RoleRights,
  metrics?: MetricsActions,
): ObjectParts {
  const { catalog, keys, codec, features, schemaOf } = objectKinds(options, clock);
  const actions = builtInActions(healthProbe(clock), issuer, rights, metrics);
  const { keptViews } = options;
  const resources = new Resources({ store, catalog, clock, random, keys, codec, actions, features, keptViews });
  return { resources, schemaOf };
}

/** Answers questions of admission and reviews about callers. */
export interface Judges {
  readonly authorizer: Authorizer;
  readonly identities: Identities;
  /** Permissions that writers of roles may grant. */
  readonly rights: RoleRights;
}

/** Parts that only the main thread has. */
export interface HandlerParts {
  /** Finds resources without a definition. */
  readonly open?: OpenResources | undefined;
  /** Connects to nodes, pods and services. */
  readonly connector?: Connector;
  /** Plugins of policies and webhooks. */
  readonly dynamic?: readonly AdmissionPlugin[];
}

/**
 * Answers resource requests of group versions that are served: admission and the verbs, measured if there is a registry.
 */
export function objectHandler(
  { admissionPlugins, minRequestTimeout }: ObjectOptions,
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
  const context = {
    resources,
    admission,
    identities,
    minRequestTimeout,
    deleteOptionsSchema,
    observer,
    open,
    connector,
  };
  return (call) => dispatch(context, call);
}
