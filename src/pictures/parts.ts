/**
 * The parts of a picture that are kept, in order, its size in pixels, and its number of frames: one if it does not
 * move.
 */
export interface CleanParts {
  parts: Buffer[]
  width: number
  height: number
  frames: number
}
