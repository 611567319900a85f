import type { PodSpec } from "../../../kinds/types/pod.ts";
import type { ImageState } from "../image-states.ts";
import { MAX_SCORE, type MakePlugin } from "../plugin.ts";

const MIB = 1024 * 1024;
/** Images from this size on count. */
const MIN_SIZE = 23 * MIB;
/** Larger images count as if they had this size. */
const MAX_SIZE = 1000 * MIB;

/**
 * Prefers nodes that already have large images of the Pod. An image that few nodes have counts less. Differs: the number of nodes
 * that have an image is the current one. In kube-scheduler it is as old as the last change of each node, so that two nodes with the
 * same image may have different scores.
 */
export const imageLocality: MakePlugin = ({ cluster }) => ({
  name: "ImageLocality",
  score({ pod }) {
    const images = imagesOf(pod.spec ?? {});
    if (!images.some((image) => cluster.hasImage(image))) return undefined;
    const max = MAX_SIZE * images.length;
    const total = cluster.nodes.length;
    return {
      score(node) {
        let sum = 0;
        for (const image of images) sum += localityOf(node.images.get(image), total);
        return Math.trunc((MAX_SCORE * (Math.min(Math.max(sum, MIN_SIZE), max) - MIN_SIZE)) / (max - MIN_SIZE));
      },
    };
  },
});

function localityOf(state: ImageState | undefined, totalNodes: number): number {
  return state === undefined ? 0 : Math.trunc(state.size * (state.nodes.size / totalNodes));
}

/** The images of containers and volumes, with a tag. */
function imagesOf({ initContainers = [], containers = [], volumes = [] }: PodSpec): string[] {
  const images = [...initContainers, ...containers].map(({ image = "" }) => image);
  for (const { image } of volumes) if (image) images.push(image.reference ?? "");
  return images.map((image) => (image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image));
}
