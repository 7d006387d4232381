/*
 * Remembers what was sent from a draft's form until the draft has it: if the log-in had ended meanwhile, the log-in
 * page was the answer, and whoever comes back finds the last fields again. They stay in this tab of the browser.
 */

/** Keeps as a draft what was sent last without success, and remembers what is sent from now on. */
export function takeUpSent(form: HTMLFormElement): void {
  const { keep } = form.dataset
  if (keep === undefined) return
  const name = `sent ${keep}`
  const last = new URLSearchParams(sessionStorage.getItem(name) ?? '')
  sessionStorage.removeItem(name)
  form.addEventListener('submit', () => {
    const fields = [...new FormData(form)].flatMap(([field, value]): [string, string][] =>
      typeof value === 'string' ? [[field, value]] : [],
    )
    remember(name, new URLSearchParams(fields))
  })
  const revision = form.querySelector<HTMLInputElement>('input[name=revision]')?.value
  // With another revision the request succeeded, or somebody else has changed the draft since.
  if (last.get('revision') !== revision) return
  // A refusal already has it in its fields, and so has the page of a button.
  const isAnswer = document.querySelector('[role=alert]') !== null
  if (isAnswer || new URL(form.action).pathname !== location.pathname) return
  void fetch(keep, { method: 'POST', body: last })
    .then((answer) => {
      if (answer.ok) location.assign(form.action)
    })
    // It is lost as it would be without this script; what is typed from now on is kept as usual.
    .catch(() => {})
}

/** What does not fit into the storage is not remembered. */
function remember(name: string, sent: URLSearchParams): void {
  try {
    sessionStorage.setItem(name, sent.toString())
  } catch {
    sessionStorage.removeItem(name)
  }
}
