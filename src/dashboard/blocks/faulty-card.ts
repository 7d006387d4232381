import { ApiError } from '../../errors/index.js'
import { ShapeError } from '../../fields/index.js'
import { fieldOf } from './form.js'

/**
 * Does what checks a document, and has a fault in a text of it stand beside the field of its card. `within`: where the
 * document is in what is given, such as `variants.1.`.
 */
export async function besideCards<T>(deed: () => Promise<T>, within = ''): Promise<T> {
  try {
    return await deed()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { field } = error.fields
    if (typeof field !== 'string' || !field.startsWith(`${within}blocks.`)) throw error
    const path = [fieldOf(field.slice(within.length).split('.'))]
    const { message } = error
    throw new ShapeError([{ code: 'invalid', path, message, expected: '', received: '' }])
  }
}
