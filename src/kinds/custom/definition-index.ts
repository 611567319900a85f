import type { KubeObject } from "../../base/api/object.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { convertObject, storedApiVersion } from "../../resources/model/conversion.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { ownTurn, pacer } from "../../resources/pace.ts";
import { StoredIndex } from "../../resources/read/stored-index.ts";
import type { Resources } from "../../resources/resources.ts";
import { readObject } from "../../resources/stored-kinds.ts";
import type { Entry } from "../../storage/store.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";
import { schemaViolations } from "./schema-violations.ts";

const GROUP = "apiextensions.k8s.io";
const PLURAL = "customresourcedefinitions";

/** The served resource of CustomResourceDefinition. */
export function definitionResource({ catalog }: Pick<Resources, "catalog">): ServedResource {
  return storedResource(catalog, GROUP, PLURAL);
}

/** A stored definition. Its schemas are large and seldom needed: they stay encoded in the store entry until used. */
export interface StoredDefinition {
  /** Without the schemas of its versions. Shared and immutable. */
  readonly definition: CustomResourceDefinition;
  /** Problems of its schemas; "" if there are none. Found once per generation, in steps. */
  violations(): Promise<string>;
  /** The whole definition, newly decoded. The caller may change it. */
  whole(): CustomResourceDefinition;
}

/** All stored CustomResourceDefinitions in v1, kept up to date. */
export class DefinitionIndex {
  readonly #index: StoredIndex<StoredDefinition>;
  readonly #resources: Resources;

  constructor(resources: Resources) {
    const { definition } = definitionResource(resources);
    const { store, keys } = resources;
    this.#resources = resources;
    this.#index = new StoredIndex<StoredDefinition>({
      store,
      prefix: keys.prefix(definition),
      read: (entry) => {
        const object = readObject(resources.codec, entry);
        return object && this.#stored(entry, this.#current(object));
      },
    });
  }

  #stored(entry: Entry, whole: CustomResourceDefinition): StoredDefinition {
    const { uid, generation } = whole.metadata;
    const known = this.#index.items.get(entry.key);
    const { metadata } = known?.definition ?? {};
    // Usually only the status changes: the schemas are not validated again.
    const isJudged = known !== undefined && metadata?.uid === uid && metadata?.generation === generation;
    const read = () => this.#current(this.#resources.codec.read(entry));
    let found: Promise<string> | undefined;
    const violations = (): Promise<string> => {
      found ??= findViolations(read);
      return found;
    };
    return { definition: withoutSchemas(whole), violations: isJudged ? known.violations : violations, whole: read };
  }

  #current(object: KubeObject): CustomResourceDefinition {
    const { definition } = definitionResource(this.#resources);
    return convertObject(definition, object, storedApiVersion(definition)) as CustomResourceDefinition;
  }

  get stored(): Iterable<StoredDefinition> {
    return this.#index.items.values();
  }

  /** Without the schemas of their versions. Shared and immutable. */
  get all(): readonly CustomResourceDefinition[] {
    return Array.from(this.#index.items.values(), ({ definition }) => definition);
  }

  find(name: string): StoredDefinition | undefined {
    const { keys } = this.#resources;
    return this.#index.items.get(keys.key(definitionResource(this.#resources).definition, { namespace: "", name }));
  }

  /** Calls the listener after every change, in order. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    return this.#index.subscribe(listener);
  }

  /** Follows the store until the signal aborts. Throws if it cannot. */
  run(signal: AbortSignal): Promise<void> {
    return this.#index.run(signal);
  }

  /** Resolves when the index includes a written object. */
  reached({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    return this.#index.waitFor(Number(metadata.resourceVersion ?? 0), signal);
  }

  /** Resolves when the index includes everything that is stored now. */
  loaded(signal: AbortSignal): Promise<void> {
    return this.#index.loaded(signal);
  }
}

async function findViolations(read: () => CustomResourceDefinition): Promise<string> {
  await ownTurn();
  // Decoding counts for the first turn.
  const pause = pacer();
  return schemaViolations(read(), pause);
}

/** A copy without the schemas of the versions. Shares all other parts. */
export function withoutSchemas(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { spec } = definition;
  const { managedFields: _, ...metadata } = definition.metadata;
  const versions = spec?.versions?.map(({ schema: _schema, ...version }) => version);
  return { ...definition, metadata, spec: { ...spec, ...(versions && { versions }) } };
}
