import type { KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { TrackingScope } from "../../data/patch/apply/scope.ts";
import type { ServedResource } from "./catalog.ts";
import { convertUncoerced } from "./conversion.ts";
import type { ResourceDefinition } from "./definition.ts";
import { trackingScopeOf } from "./tracking-scope.ts";

/**
 * Computes managed fields at an endpoint ("" is the object itself). Managers may use other versions, in which the
 * object is compared, too. If that needs a batch converter, `track` is called again after each conversion. It must be a
 * pure function.
 */
export function tracking<T>(
  resource: ServedResource,
  subresource: string,
  track: (scope: TrackingScope) => T,
): Eventually<T> {
  const scope = trackingScopeOf(resource, subresource);
  const { definition } = resource;
  return definition.hooks?.convertBatch ? trackConverted(definition, scope, track) : track(scope);
}

/** Thrown by `convert` if the object is needed in another version. */
class ConversionNeeded extends Error {
  readonly object: KubeObject;
  readonly apiVersion: string;

  constructor(object: KubeObject, apiVersion: string) {
    super(`conversion to ${apiVersion} needed`);
    this.name = "ConversionNeeded";
    this.object = object;
    this.apiVersion = apiVersion;
  }
}

async function trackConverted<T>(
  definition: ResourceDefinition,
  scope: TrackingScope,
  track: (scope: TrackingScope) => T,
): Promise<T> {
  const known = new Map<string, KubeObject>();
  const name = (object: KubeObject, apiVersion: string) => `${apiVersion} ${JSON.stringify(object)}`;
  const convert: TrackingScope["convert"] = (object, apiVersion) => {
    if (scope.schemaOf(apiVersion) === undefined) return undefined;
    const converted = known.get(name(object, apiVersion));
    if (!converted) throw new ConversionNeeded(object, apiVersion);
    return converted;
  };
  for (;;) {
    try {
      return track({ ...scope, convert });
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      const { object, apiVersion } = error;
      const [converted] = await convertUncoerced(definition, [cloneJson(object)], apiVersion);
      if (converted) known.set(name(object, apiVersion), converted);
    }
  }
}
