# What `ip xfrm monitor nokeys` prints meanwhile.
monitor_start
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0xa01 reqid 10 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 limit time-hard 2
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0xa02 reqid 10 replay-window 64 flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 sel src 10.0.0.1 dst 10.0.0.2 proto udp
ip xfrm state update src 10.0.0.1 dst 10.0.0.2 proto esp spi 0xa02 reqid 10 replay-window 64 flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 sel src 10.0.0.1 dst 10.0.0.2 proto udp limit time-soft 2
ip xfrm policy add dir out src 10.0.0.1 dst 10.0.0.2 proto udp tmpl proto esp reqid 10
ip xfrm policy update dir out src 10.0.0.1 dst 10.0.0.2 proto udp priority 3 limit time-hard 2
ip xfrm policy add dir in src 10.0.0.2 dst 10.0.0.1 action block
sleep 4
ip xfrm state delete dst 10.0.0.2 proto esp spi 0xa02
ip xfrm policy delete dir in src 10.0.0.2 dst 10.0.0.1
ip xfrm policy setdefault in block
ip xfrm state flush
ip xfrm policy flush
monitor_stop
