import type { JsonObject } from "../../../base/api/object.ts";
import type { GroupVersionKind, Schema, SchemaSource } from "../../../data/schema/schema.ts";
import type { ResourceDefinition, ServedVersion, Subresource, Verb } from "../../../resources/model/definition.ts";
import {
  CUSTOM_TYPES,
  capitalize,
  groupVersionWords,
  OBJECT_TYPES,
  type Operation,
  PATCH_TYPES,
  parametersOf,
  STRATEGIC_PATCH_TYPE,
  STREAM_TYPES,
} from "./openapi-operations.ts";
import {
  NAME,
  NAMESPACE,
  optionParameters,
  PATH,
  type Parameter,
  PRETTY,
  TEXT_SUBRESOURCES,
} from "./openapi-parameters.ts";
import { type PublishedSchemas, siblingName } from "./openapi-schemas.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const ANY: readonly string[] = ["*/*"];
const TEXT: JsonObject = { type: "string" };
const CONNECT_METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];

/** Input of a resource's operations. */
export interface ResourceContext {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
  /** The schema of a custom resource. Undefined for built-in kinds. */
  readonly custom: Schema | undefined;
  readonly schemas: PublishedSchemas;
  readonly source: SchemaSource;
  /** Schema name of a kind, which may belong to another group version. */
  componentOf(kind: GroupVersionKind): string;
}

/** An operation without the parts derived from its path and resource. */
interface Draft {
  readonly method: string;
  readonly action: string;
  readonly verb: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: Operation["body"];
  readonly codes?: readonly number[];
  readonly mediaTypes?: readonly string[];
  readonly schema: JsonObject;
  readonly kind?: GroupVersionKind;
  /** Appended to the kind in the operation id. */
  readonly suffix?: string;
  /** Connections have no `pretty` parameter. */
  readonly isPlain?: boolean;
}

/** All paths of a resource in one version, relative to the group version, with their operations. */
export function resourcePaths(context: ResourceContext): Map<string, Operation[]> {
  return new ResourcePaths(context).build();
}

class ResourcePaths {
  readonly #context: ResourceContext;
  readonly #paths = new Map<string, Operation[]>();
  readonly #isCustom: boolean;
  readonly #object: JsonObject;
  readonly #list: JsonObject;
  readonly #types: readonly string[];
  readonly #place: readonly Parameter[];

  constructor(context: ResourceContext) {
    const { definition, version, custom, schemas } = context;
    this.#context = context;
    this.#isCustom = custom !== undefined;
    if (custom !== undefined) {
      const { group, kind, listKind } = definition;
      const { selectableFields } = version;
      const names = { group, version: version.name, kind, listKind, selectableFields };
      const references = schemas.custom(version.schemaName, custom, names);
      this.#object = references.object;
      this.#list = references.list;
    } else {
      const listName = siblingName(version.schemaName, definition.listKind);
      this.#object = schemas.reference(version.schemaName);
      this.#list = this.#can("list") ? schemas.reference(listName) : TEXT;
    }
    this.#types = this.#isCustom ? CUSTOM_TYPES : OBJECT_TYPES;
    this.#place = definition.scope === "Namespaced" ? [NAMESPACE] : [];
  }

  build(): Map<string, Operation[]> {
    const { definition, version } = this.#context;
    const isNamespaced = definition.scope === "Namespaced";
    const collection = isNamespaced ? `/namespaces/{namespace}/${definition.plural}` : `/${definition.plural}`;
    const one = `${collection}/{name}`;
    this.#add(collection, this.#place, this.#collectionDrafts());
    if (isNamespaced && this.#can("list")) {
      this.#add(`/${definition.plural}`, [], [this.#listDraft("ForAllNamespaces")]);
    }
    this.#add(one, [...this.#place, NAME], this.#objectDrafts());
    for (const [name, subresource] of Object.entries(version.subresources ?? definition.subresources)) {
      this.#addSubresource(`${one}/${name}`, name, subresource);
    }
    if (this.#can("watch") && !this.#isCustom) {
      if (isNamespaced)
        this.#add(`/watch/${definition.plural}`, [], [this.#watchDraft("watchlist", "ListForAllNamespaces")]);
      this.#add(`/watch${collection}`, this.#place, [this.#watchDraft("watchlist", "List")]);
      if (this.#can("get")) this.#add(`/watch${one}`, [...this.#place, NAME], [this.#watchDraft("watch", "")]);
    }
    return this.#paths;
  }

  #can(verb: Verb): boolean {
    return this.#context.definition.verbs.includes(verb);
  }

  #add(path: string, place: readonly Parameter[], drafts: readonly Draft[]): void {
    if (drafts.length === 0) return;
    const { definition, version } = this.#context;
    const { group, kind } = definition;
    const words = groupVersionWords(group, version.name);
    const operations = drafts.map((draft): Operation => {
      const scope = place.includes(NAMESPACE) ? "Namespaced" : "";
      const collection = draft.action === "deletecollection" ? "Collection" : "";
      const method = draft.action === "connect" ? capitalize(draft.method) : "";
      const pretty = draft.isPlain === true ? [] : [PRETTY];
      return {
        method: draft.method,
        operationId: `${draft.verb}${words.id}${collection}${method}${scope}${kind}${draft.suffix ?? ""}`,
        tag: words.tag,
        action: draft.action,
        kind: draft.kind ?? { group, version: version.name, kind },
        parameters: [...place, ...pretty, ...(draft.parameters ?? [])],
        body: draft.body,
        consumes: draft.body?.mediaTypes ?? (this.#isCustom ? CUSTOM_TYPES : ANY),
        codes: draft.codes ?? [200],
        mediaTypes: draft.mediaTypes ?? this.#types,
        schema: draft.schema,
      };
    });
    this.#paths.set(path, operations);
  }

  #collectionDrafts(): Draft[] {
    const drafts: Draft[] = [];
    if (this.#can("list")) drafts.push(this.#listDraft(""));
    if (this.#can("create")) drafts.push(this.#createDraft(this.#object));
    if (this.#can("deletecollection")) {
      const parameters = parametersOf(this.#isCustom ? "list" : "deletecollection", this.#context.version);
      const body = this.#isCustom ? undefined : this.#body(this.#meta("DeleteOptions"), false);
      drafts.push({
        method: "delete",
        action: "deletecollection",
        verb: "delete",
        parameters,
        body,
        schema: this.#meta("Status"),
      });
    }
    return drafts;
  }

  #objectDrafts(): Draft[] {
    const drafts: Draft[] = [];
    if (this.#can("get")) drafts.push(this.#readDraft(this.#object));
    if (this.#can("update")) drafts.push(this.#replaceDraft(this.#object));
    if (this.#can("delete")) {
      const { definition, version } = this.#context;
      const isObject = version.deleteReturnsObject ?? definition.rules.deleteReturnsObject ?? false;
      const schema = isObject ? this.#object : this.#meta("Status");
      const body = this.#body(this.#meta("DeleteOptions"), false);
      const parameters = parametersOf("delete");
      drafts.push({ method: "delete", action: "delete", verb: "delete", parameters, body, codes: [200, 202], schema });
    }
    if (this.#can("patch")) drafts.push(this.#patchDraft(this.#object));
    return drafts;
  }

  #addSubresource(path: string, name: string, subresource: Subresource): void {
    const { schemas, componentOf } = this.#context;
    const suffix = capitalize(name);
    const place = [...this.#place, NAME];
    const text = TEXT_SUBRESOURCES[name];
    if (text !== undefined) {
      const mediaTypes = [...this.#types, "text/plain"];
      const draft = this.#readDraft(TEXT);
      this.#add(path, place, [{ ...draft, suffix, parameters: text, mediaTypes }]);
      return;
    }
    if (subresource.connect === true) {
      this.#addConnect(path, suffix, subresource);
      return;
    }
    const schema = subresource.kind === undefined ? this.#object : schemas.reference(componentOf(subresource.kind));
    const drafts: Draft[] = [];
    const { verbs } = subresource;
    if (verbs.includes("get")) drafts.push(this.#readDraft(schema));
    if (verbs.includes("update")) drafts.push(this.#replaceDraft(schema));
    if (verbs.includes("create")) drafts.push(this.#createDraft(schema));
    if (verbs.includes("patch")) drafts.push(this.#patchDraft(schema));
    // Compat: `x-kubernetes-group-version-kind` of a custom resource's subresource is the kind of the resource itself,
    // even for Scale.
    const kind = this.#isCustom ? undefined : subresource.kind;
    this.#add(
      path,
      place,
      drafts.map((draft) => ({ ...draft, suffix, kind })),
    );
  }

  #addConnect(path: string, suffix: string, subresource: Subresource): void {
    const { source, componentOf } = this.#context;
    const { kind, verbs } = subresource;
    const options = kind === undefined ? undefined : source(componentOf(kind));
    const parameters = options === undefined ? [] : optionParameters(options);
    const isProxy = verbs.includes("update");
    const methods = isProxy ? CONNECT_METHODS : ["get", "post"];
    const drafts = methods.map((method): Draft => {
      const common = { method, action: "connect", verb: "connect", kind, suffix };
      return { ...common, parameters, mediaTypes: ANY, schema: TEXT, isPlain: true };
    });
    const place = [...this.#place, NAME];
    this.#add(path, place, drafts);
    if (!isProxy) return;
    this.#add(
      `${path}/{path}`,
      [...place, PATH],
      drafts.map((draft) => ({ ...draft, suffix: `${suffix}WithPath` })),
    );
  }

  #listDraft(suffix: string): Draft {
    const mediaTypes = this.#isCustom ? CUSTOM_TYPES : STREAM_TYPES;
    const parameters = parametersOf("list", this.#context.version);
    return { method: "get", action: "list", verb: "list", parameters, mediaTypes, schema: this.#list, suffix };
  }

  #watchDraft(action: string, suffix: string): Draft {
    const parameters = parametersOf("list", this.#context.version);
    const schema = this.#meta("WatchEvent");
    return { method: "get", action, verb: "watch", parameters, mediaTypes: STREAM_TYPES, schema, suffix };
  }

  #createDraft(schema: JsonObject): Draft {
    const body = this.#body(schema, true);
    return {
      method: "post",
      action: "post",
      verb: "create",
      parameters: parametersOf("post"),
      body,
      codes: [200, 201, 202],
      schema,
    };
  }

  #readDraft(schema: JsonObject): Draft {
    const parameters = this.#isCustom ? parametersOf("list").filter(({ name }) => name === "resourceVersion") : [];
    return { method: "get", action: "get", verb: "read", parameters, schema };
  }

  #replaceDraft(schema: JsonObject): Draft {
    const body = this.#body(schema, true);
    return {
      method: "put",
      action: "put",
      verb: "replace",
      parameters: parametersOf("put"),
      body,
      codes: [200, 201],
      schema,
    };
  }

  #patchDraft(schema: JsonObject): Draft {
    const mediaTypes = this.#isCustom ? PATCH_TYPES : [...PATCH_TYPES, STRATEGIC_PATCH_TYPE];
    const body = { mediaTypes, schema: this.#meta("Patch"), required: true };
    const codes = this.#isCustom ? [200] : [200, 201];
    return { method: "patch", action: "patch", verb: "patch", parameters: parametersOf("patch"), body, codes, schema };
  }

  #body(schema: JsonObject, required: boolean): Operation["body"] {
    return { mediaTypes: this.#isCustom ? CUSTOM_TYPES : ANY, schema, required };
  }

  #meta(name: string): JsonObject {
    return this.#context.schemas.reference(`${META}.${name}`);
  }
}
