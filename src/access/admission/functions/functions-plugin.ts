import { internalError } from "../../../base/api/api-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import type { Catalog } from "../../../resources/model/catalog.ts";
import type { DefaultsContext } from "../../../resources/model/definition.ts";
import { matchedApiVersion, namespaceOf } from "../expressions/request-variable.ts";
import { refusal } from "../matches.ts";
import { type Match, type MatchCriteria, MatchIndex } from "../matching/match-index.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { inVersion, replaceObject } from "../versioned.ts";
import {
  FunctionFailure,
  type FunctionHost,
  type FunctionName,
  type FunctionOutcome,
  type SentCall,
} from "./module.ts";

interface PlacedHost {
  readonly host: FunctionHost;
  readonly criteria: MatchCriteria;
}

/** Options of AdmissionFunctions. */
export interface FunctionsContext {
  readonly catalog: Catalog;
  readonly defaults: DefaultsContext;
}

/** The plugin that runs admission functions. Each function sees the object as the previous ones left it. */
export class AdmissionFunctions {
  readonly #index: MatchIndex<PlacedHost>;
  readonly #defaults: DefaultsContext;

  constructor(hosts: readonly FunctionHost[], { catalog, defaults }: FunctionsContext) {
    const placed = hosts.map((host) => ({
      host,
      criteria: { rules: host.rules, excluded: [], meansAll: false, isEquivalent: false },
    }));
    this.#index = new MatchIndex(catalog, placed);
    this.#defaults = defaults;
  }

  /** Whether a function may apply to writes of a resource or its subresource. */
  concerns: MatchIndex<PlacedHost>["concerns"] = (resource, subresource) => this.#index.concerns(resource, subresource);

  get plugin(): AdmissionPlugin {
    return {
      name: "AdmissionFunctions",
      handles: (request) => this.#index.find(request).length > 0,
      mutate: async (request) => {
        for (const match of this.#of(request, "mutate")) await this.#mutate(match, request);
      },
      validate: async (request) => {
        for (const match of this.#of(request, "validate")) {
          const { refusal: text } = await run(match, "validate", request);
          note(match, "validate", request, text);
          if (text !== undefined) throw refusal(request, text);
        }
      },
    };
  }

  #of(request: AdmissionRequest, name: FunctionName): readonly Match<PlacedHost>[] {
    return this.#index.find(request).filter(({ item }) => item.host.functions.includes(name));
  }

  async #mutate(match: Match<PlacedHost>, request: AdmissionRequest): Promise<void> {
    const { object } = await run(match, "mutate", request);
    if (object !== undefined && request.object) await this.#replace(match, request, object);
    note(match, "mutate", request);
  }

  async #replace(match: Match<PlacedHost>, request: AdmissionRequest, object: KubeObject): Promise<void> {
    const { group, version, kind } = match.matched.kind;
    if (object.kind !== kind || object.apiVersion !== (group === "" ? version : `${group}/${version}`)) {
      throw internalError(`${match.item.host.title}: mutate returned an object of another kind`);
    }
    await replaceObject(request, object, this.#defaults);
  }
}

/** Adds a note about a function to the trace, if the request has one. */
function note({ item }: Match<PlacedHost>, from: FunctionName, request: AdmissionRequest, refused?: string): void {
  const { trace } = request;
  if (!trace) return;
  const outcome = refused === undefined ? "allowed" : "denied";
  const { title: name } = item.host;
  const told = { type: "function", name, from, outcome, expressions: [], sources: [] } as const;
  trace.note({ ...told, ...(refused !== undefined && { message: refused }) }, request.object);
}

async function run(match: Match<PlacedHost>, name: FunctionName, request: AdmissionRequest): Promise<FunctionOutcome> {
  try {
    const outcome = await match.item.host.run(name, await callOf(match, request));
    for (const text of outcome.warnings) request.warn(text);
    return outcome;
  } catch (error) {
    if (error instanceof FunctionFailure) throw internalError(error.message, error);
    throw error;
  }
}

async function callOf({ matched }: Match<PlacedHost>, request: AdmissionRequest): Promise<SentCall> {
  const { operation, subresource, name, user, dryRun } = request;
  const { group, version, resource, kind } = matched;
  const { object, previous } = await inVersion(request, matchedApiVersion(matched));
  const copy = (one: KubeObject | undefined) => one && cloneJson(one);
  return {
    ...{ operation, subresource, name, user, dryRun, namespace: namespaceOf(request) },
    kind: { ...kind },
    resource: { group, version, resource },
    object: copy(object),
    oldObject: copy(previous),
    options: request.options(),
  };
}
