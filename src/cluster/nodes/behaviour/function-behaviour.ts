import type { ContainerBehaviour } from "./behaviour.ts";
import type { ContainerImages } from "./container-images.ts";
import { type FunctionContext, FunctionProcess } from "./function-process.ts";

/** Containers whose image has a function do what it says. All others behave as `others` says. */
export function functionBehaviour(
  images: ContainerImages,
  others: ContainerBehaviour,
  context: FunctionContext,
): ContainerBehaviour {
  return {
    pullError: (pod, container) => images.find(container)?.pullError ?? others.pullError(pod, container),
    hasFunction: (container) => images.find(container) !== undefined || others.hasFunction(container),
    start(instance) {
      const definition = images.find(instance.container);
      return definition ? new FunctionProcess(instance, definition, context) : others.start(instance);
    },
  };
}
