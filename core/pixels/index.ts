// The door of the pixels (`enginewright/pixels`): what the bytes of a picture say about themselves.
// A leaf that knows neither engines nor models.
export type { PixelFault, PngInfo } from './png-header.ts';
export { PIXEL_FAULTS, PixelError, isPixelError, readPngInfo } from './png-header.ts';
