/*
 * What was typed into a draft may still be on its way when its page has gone: it was sent on leaving, and nobody hears the
 * answer. The tab remembers of which revision that was, and 'Check and send' waits for it, some seconds at most.
 */

const noteOf = (draft: string) => `keeping ${new URL(draft, location.href).pathname}`

/** Remembers that something typed is on its way to a draft of this revision. */
export const noteKeeping = (draft: string, revision: string): void =>
  sessionStorage.setItem(noteOf(draft), revision)

/** It has arrived, or it did not. */
export const forgetKeeping = (draft: string): void => sessionStorage.removeItem(noteOf(draft))

// When the page is asked for anew (ms after the one before).
const looksMs = [250, 500, 1_000, 1_500, 2_000]

/** Has 'Send it' wait for what was typed a moment before; where nobody presses it meanwhile the page is loaded anew with that. */
export function waitForTyped(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-draft]')
  const revision = revisionIn(document)
  const { draft } = form?.dataset ?? {}
  if (form === null || draft === undefined || revision === null) return
  const noted = sessionStorage.getItem(noteOf(draft))
  forgetKeeping(draft)
  if (noted !== revision.value) return
  let pressed: { by: HTMLElement | null } | undefined
  let isWaiting = true
  form.addEventListener('submit', (event) => {
    if (!isWaiting) return
    event.preventDefault()
    pressed = { by: event.submitter }
  })
  void arrived(revision.value).then((fresh) => {
    isWaiting = false
    if (pressed === undefined && fresh === undefined) return
    // Somebody else has changed it, too, or it cannot be sent as it is: that is to be looked at first.
    const isOurs = fresh === undefined || fresh === String(Number(noted) + 1)
    if (pressed === undefined || !isOurs) return location.reload()
    if (fresh !== undefined) revision.value = fresh
    form.requestSubmit(pressed.by)
  })
}

const revisionIn = (page: Document) =>
  page.querySelector<HTMLInputElement>('form[data-draft] input[name=revision]')

/** The revision that came of what was on its way, '' where the draft cannot be sent any more; undefined: nothing came. */
async function arrived(before: string): Promise<string | undefined> {
  for (const ms of looksMs) {
    await new Promise((done) => setTimeout(done, ms))
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(ms + 2_000) }).catch(
      () => undefined,
    )
    const text = answer?.ok ? await answer.text().catch(() => undefined) : undefined
    if (text === undefined) continue
    const now = revisionIn(new DOMParser().parseFromString(text, 'text/html'))?.value ?? ''
    if (now !== before) return now
  }
  return undefined
}
