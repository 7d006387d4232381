import { ApiError } from '../errors/index.js'
import { ShapeError } from '../fields/index.js'
import { errorResponse } from './failure.js'
import { parseJsonObject, requireJsonType } from './json-body.js'
import type { Page, PageRequest } from './pages.js'

/**
 * A page (with `raw`) that takes and answers JSON, errors included, as the API does; unexpected errors are thrown on.
 * `headers` is called after the work, whether it succeeded or failed.
 */
export async function jsonPage(
  request: PageRequest,
  work: (body: Record<string, unknown>) => Promise<{ status: number; body: object }>,
  headers: () => Record<string, string>,
): Promise<Page> {
  const contentType = 'application/json; charset=utf-8'
  try {
    requireJsonType(request.header('content-type'))
    const { status, body } = await work(parseJsonObject(request.rawBody))
    return { status, text: JSON.stringify(body), contentType, headers: headers() }
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ShapeError)) throw error
    const { status, body } = errorResponse(error)
    return { status, text: String(body), contentType, headers: headers() }
  }
}
