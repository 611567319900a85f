export interface PodOptions { readonly allowsEmptyImageReference: boolean; readonly allowsAnyTokenPath: boolean; }
