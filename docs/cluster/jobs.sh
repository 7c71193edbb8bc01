# shellcheck shell=bash
# Reading a list of jobs; sourced by the other scripts.

# The lines of a list, numbered by their order: comments and empty lines do not count.
job_lines() {
  tr -d '\r' <"$1" | grep -Ev '^[[:space:]]*(#|$)' || true
}

# Set run, model, server_options and run_options to the fields of one line.
read_job() {
  local fields server_words run_words
  fields=$(tr -cd '|' <<<"$1" | wc -c)
  IFS='|' read -r run model server_words run_words <<<"$1"
  read -r run <<<"$run"
  read -r model <<<"$model"
  read -r -a server_options <<<"${server_words:-}"
  read -r -a run_options <<<"${run_words:-}"
  if [ "$fields" != 3 ] || [ -z "$model" ]; then
    echo "a job is «run | model | server options | run options», not: $1" >&2
    return 1
  fi
  if ! [[ $run =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]]; then
    echo "a run's name is made of letters, digits, dots, dashes and underscores, not: $run" >&2
    return 1
  fi
}

# Refuse a list that is empty, has a line that cannot be read, or gives two jobs one folder.
check_jobs() {
  local line names=() twice run model
  local -a server_options run_options
  if [ ! -r "$1" ]; then
    echo "there is no list of jobs $1" >&2
    return 1
  fi
  while IFS= read -r line; do
    read_job "$line" || return 1
    : "$model" "${server_options[@]}" "${run_options[@]}"
    names+=("$run")
  done < <(job_lines "$1")
  if [ "${#names[@]}" = 0 ]; then
    echo "$1 holds no job" >&2
    return 1
  fi
  twice=$(printf '%s\n' "${names[@]}" | sort | uniq -d | head -n 1)
  if [ -n "$twice" ]; then
    echo "two jobs of $1 have the folder $twice" >&2
    return 1
  fi
}
