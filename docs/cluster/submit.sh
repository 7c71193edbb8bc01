#!/usr/bin/env bash
# Submit a list of jobs as a Slurm job array, and the report that waits for it.
#
#   submit.sh JOBS [OPTIONS OF sbatch FOR THE ARRAY]        such as --partition=gpu --account=mine --time=24:00:00
#
#   RUNS     where run folders go (default: runs)
#   REPORT   where the report goes (default: report)
#   AT_ONCE  how many jobs run at a time (default: as many as Slurm lets)
#   REPORT_OPTIONS  options of sbatch for the report's job
#
# Submit the same list again after jobs failed or were cancelled: each run goes on with what it lacks, and one that is
# complete asks nobody.
set -euo pipefail

if [ $# -lt 1 ]; then
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 64
fi
OULIBENCH_CLUSTER=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docs/cluster/jobs.sh
. "$OULIBENCH_CLUSTER/jobs.sh"
check_jobs "$1"
list=$1
shift
RUNS=${RUNS:-runs} REPORT=${REPORT:-report}
mkdir -p "$RUNS" "$(dirname "$REPORT")"
RUNS=$(cd "$RUNS" && pwd)
JOBS=$RUNS/.jobs-$(date +%Y%m%d-%H%M%S)-$$.txt
cp "$list" "$JOBS" # a job that is queued again must find its line where it was
REPORT=$(cd "$(dirname "$REPORT")" && pwd)/$(basename "$REPORT")
export JOBS RUNS REPORT OULIBENCH_CLUSTER

jobs=$(job_lines "$JOBS" | wc -l | tr -d ' ')
array=$(sbatch --parsable --export=ALL --array="1-$jobs${AT_ONCE:+%$AT_ONCE}" "$@" "$OULIBENCH_CLUSTER/array.sbatch")
array=${array%%;*} # «id;cluster» where there are several clusters
read -r -a report_options <<<"${REPORT_OPTIONS:-}"
report=$(sbatch --parsable --export=ALL --dependency="afterany:$array" ${report_options[@]+"${report_options[@]}"} \
  "$OULIBENCH_CLUSTER/report.sbatch")
echo "$jobs jobs: $array, then the report: ${report%%;*} → $REPORT"
