import { type BroadcastDeps, judgeContent } from '../../broadcasts/index.js'
import { ApiError } from '../../errors/index.js'
import { tryDocument } from '../blocks/form.js'
import { checkEach } from '../shell/faults.js'
import { type CampaignForm, givenBy, type WrittenAt } from './form.js'

/**
 * What was typed of a draft, as the API takes it. Where a field does not fit, what its sender and its content have of faults
 * is told at the same time: nobody is to mend one field to be told of the next.
 */
export async function typedDraft(
  deps: Pick<BroadcastDeps, 'store' | 'renderer'>,
  accountId: string,
  form: CampaignForm,
  written: WrittenAt,
): Promise<ReturnType<typeof givenBy>> {
  try {
    return givenBy(form, written)
  } catch (error) {
    const { from, subject = '', previewText = '', html = '' } = form
    const blocks = written.document && tryDocument(written.document)
    const content = { subject, previewText, ...(blocks === undefined ? { html } : { blocks }) }
    await checkEach([
      () => Promise.reject(error),
      async () => {
        try {
          await judgeContent(deps, accountId, { from, ...content })
        } catch (other) {
          // What is no fault of what was typed is told once that fits.
          if (other instanceof ApiError && other.status < 500) throw other
        }
      },
    ])
    throw error
  }
}
