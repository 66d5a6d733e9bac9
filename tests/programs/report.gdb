# Says where each frame was recorded, from the selected one on.
while $trace_frame != -1
  printf "frame %d, tracepoint %d, line %d", $trace_frame, $tracepoint, $trace_line
  if $trace_line > 0
    printf " of %s in %s", $trace_file, $trace_func
  end
  printf "\n"
  tfind
end
