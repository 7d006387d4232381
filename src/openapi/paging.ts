import { orNull, refusal, type Schema, text } from './describe.js'

/** Of every list that comes in pages. */
export const pageQuery: Record<string, Schema> = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 500,
    default: 100,
    description: 'How many at most',
  },
  cursor: text('`nextCursor` of the page before'),
}

export const pageFields: Record<string, Schema> = {
  hasMore: { type: 'boolean', description: 'Whether there is another page' },
  nextCursor: orNull(text('Where the next page begins; null at the end')),
}

export const foreignCursor = refusal(
  'validation_error',
  'The cursor is not of this list',
  'The cursor does not belong to this list',
)
