// Lets a request of the reference be tried. The page is whole without it: then there is the command to copy.
for (const form of document.querySelectorAll('form[data-try]')) {
  form.hidden = false
  const body = form.elements.namedItem('body')
  for (const button of document.querySelectorAll('[data-example]')) {
    button.hidden = false
    button.addEventListener('click', () => {
      body.value = button.dataset.example
      body.focus()
    })
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form)
  })
}

async function send(form) {
  const { try: method, path } = form.dataset
  const url = new URL(location.origin)
  let filled = path
  for (const input of form.querySelectorAll('[data-in]')) {
    const value = input.value.trim()
    if (input.dataset.in === 'path') filled = filled.replace(`{${input.name}}`, encodeURIComponent(value))
    else if (value !== '') url.searchParams.set(input.name, value)
  }
  url.pathname = filled
  const text = form.elements.namedItem('body')?.value
  const key = form.elements.namedItem('key')?.value.trim()
  const answer = form.querySelector('[data-answer]')
  answer.hidden = false
  answer.textContent = 'Sent …'
  try {
    const response = await fetch(url, {
      method,
      credentials: 'omit',
      headers: {
        ...(key && { Authorization: `Bearer ${key}` }),
        ...(text !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(text !== undefined && { body: text }),
    })
    const said = await response.text()
    answer.textContent = `${response.status} ${response.statusText}\n\n${indented(said)}`
  } catch (error) {
    answer.textContent = `The request could not be sent: ${error.message}`
  }
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
