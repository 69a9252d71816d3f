// One streamed answer of the Messages API, given piece by piece. A piece may stay unfinished.
import { fail, newMessage } from './api.mjs'
import { idOf } from './tail.mjs'

/** `body` is the request, `response` what it is answered with, `commands` those of commands.mjs. `asks(id)` is told of each whole call. */
export function answerTo({ body, response }, commands, asks) {
  const blocks = []
  const send = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
  const start = (block) => {
    answer.start()
    send('content_block_start', { index: blocks.length, content_block: block })
    blocks.push(block.type)
    return answer
  }
  const delta = (more) => {
    send('content_block_delta', { index: blocks.length - 1, delta: more })
    return answer
  }
  const stop = () => {
    send('content_block_stop', { index: blocks.length - 1 })
    return answer
  }
  const call = (id, name, input) => {
    asks(id)
    start({ type: 'tool_use', id: idOf(id), name, input: {} })
    delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) })
    return stop()
  }
  const answer = {
    start() {
      if (!response.headersSent) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        send('message_start', { message: newMessage(body.model) })
      }
      return answer
    },
    text(words) {
      answer.halfText(words)
      return stop()
    },
    halfText(words) {
      start({ type: 'text', text: '' })
      return delta({ type: 'text_delta', text: words })
    },
    /** `kind` of command is writer, reader or printer. */
    shell(id, { kind = 'writer', script, ...more } = {}) {
      return call(id, 'Bash', { command: commands[kind](id, script), description: `step ${id}`, ...more })
    },
    halfShell(id) {
      start({ type: 'tool_use', id: idOf(id), name: 'Bash', input: {} })
      return delta({ type: 'input_json_delta', partial_json: '{"command":"echo run >> ' })
    },
    agent(id, prompt, more = {}) {
      return call(id, 'Agent', { description: `job ${id}`, prompt, subagent_type: 'general-purpose', run_in_background: false, ...more })
    },
    /** All is said but the last event, which ends the message. */
    almost() {
      send('message_delta', { delta: { stop_reason: blocks.includes('tool_use') ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } })
      return answer
    },
    end() {
      answer.almost()
      send('message_stop')
      response.end()
    },
    /** The connection breaks. */
    cut() {
      response.destroy()
    },
    overloaded() {
      fail(response, 529, 'overloaded_error', 'overloaded')
    },
  }
  return answer
}
