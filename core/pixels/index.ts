// The door of the pixels (`enginewright/pixels`): PNG pictures decoded, made small, masked, compared
// and encoded. A leaf that knows neither engines nor models.
export type { CompareOptions, Comparison } from './compare.ts';
export { comparePictures } from './compare.ts';
export type { DecodeOptions, Picture } from './decode.ts';
export { decodePng, decodePngSync } from './decode.ts';
export type { EncodeOptions, PixelData } from './encode.ts';
export { encodePng, encodePngSync } from './encode.ts';
export type { Size } from './fit.ts';
export { fitSize } from './fit.ts';
export type { KernelKind } from './kernels.ts';
export { KERNEL_KINDS } from './kernels.ts';
export type { PixelRect, ResampleMode, ResampleOptions } from './plan.ts';
export { RESAMPLE_MODES } from './plan.ts';
export type { PixelFault, PngInfo } from './png-header.ts';
export { PIXEL_FAULTS, PixelError, isPixelError, readPngInfo } from './png-header.ts';
export type { ResampledPicture } from './resample.ts';
export { resample, resampleSync } from './resample.ts';
